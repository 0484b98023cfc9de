import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import { encode, maxDepth } from "../../../src/domain/json/CanonicalJson.js"
import {
  fileLength,
  inexactNumbers,
  isTooDeep,
  maxDocumentBytes,
  maxDocumentValues,
  numbersWithin,
  parseObject,
  parseObjectSliced,
  parseObjectSteps,
  shapeProblem,
  sizeProblem,
  visitTokens
} from "../../../src/domain/json/JsonText.js"
import { decimal } from "../../../src/domain/json/NumberText.js"

const bytes = (text: string) => new TextEncoder().encode(text)

/** How often a computation pauses. */
const pauses = (steps: Steps.Steps<unknown>): number => {
  let count = 0
  while (steps.next().done !== true) count++
  return count
}

const tooLarge = "exceeds 100 MiB or 5 million values"
const tooDeep = `is nested deeper than ${maxDepth} levels`

describe("the shape of a JSON text", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth)

  it("is limited in its depth, and brackets in its texts are none", () => {
    for (const text of [
      nested(maxDepth),
      `${`{"a":`.repeat(maxDepth)}1${"}".repeat(maxDepth)}`,
      `[${`${nested(maxDepth - 1)},`.repeat(3)}{}]`,
      `[${"{},".repeat(maxDepth)}1]`,
      `["${"[".repeat(2 * maxDepth)}"]`,
      String.raw`["\"${"{".repeat(2 * maxDepth)}","\\"]`,
      "1".repeat(2 * maxDepth)
    ]) {
      assert.isFalse(isTooDeep(text), text.slice(0, 20))
    }
    for (const text of [
      nested(maxDepth + 1),
      `{"a":`.repeat(maxDepth + 1),
      `["\\\\",${nested(maxDepth)}]`,
      `["",${nested(maxDepth)}]`
    ]) {
      assert.isTrue(isTooDeep(text))
      assert.strictEqual(Steps.runSync(shapeProblem(text)), tooDeep, text.slice(0, 20))
    }
  })

  it("is limited in its bytes", () => {
    const larger = new Uint8Array(maxDocumentBytes + 1)
    assert.strictEqual(Steps.runSync(sizeProblem(larger)), tooLarge)
    assert.deepStrictEqual(Steps.runSync(parseObjectSteps(larger)), Either.left(tooLarge))
    // A value takes two bytes at least: only so many bytes can have too many values.
    const long = bytes("[".repeat(2 * maxDocumentValues))
    assert.isUndefined(Steps.runSync(sizeProblem(long)))
    assert.strictEqual(Steps.runSync(sizeProblem(Buffer.concat([long, bytes("[")]))), tooDeep)
  })

  it("is looked at in pauses", () => {
    assert.strictEqual(pauses(shapeProblem(" ".repeat(300_000))), 2)
    assert.strictEqual(pauses(fileLength(" ".repeat(4 * Steps.stepSize))), 4)
    assert.strictEqual(pauses(visitTokens(`[${"1,".repeat(Steps.stepSize)}1]`, {})), 2)
    assert.strictEqual(pauses(numbersWithin(Array(2 * Steps.stepSize).fill(1), new Set([1, 2]))), 2)
  })
})

describe("a file that is read as an object", () => {
  it.effect("is the object, or a problem in words", () =>
    Effect.gen(function* () {
      const blanks = " ".repeat(20_000)
      const deep = "[".repeat(maxDepth + 1)
      const cases: ReadonlyArray<readonly [Uint8Array, Either.Either<object, string | RegExp>]> = [
        [bytes('{"a": [1, "é"]}'), Either.right({ a: [1, "é"] })],
        [bytes("[1]"), Either.left("does not hold a JSON object")],
        [bytes("null"), Either.left("does not hold a JSON object")],
        [bytes('"a"'), Either.left("does not hold a JSON object")],
        [bytes("{"), Either.left(/^is not JSON \(.+\)$/)],
        [bytes(deep), Either.left(tooDeep)],
        [Uint8Array.of(0x7b, 0xff, 0x7d), Either.left("is not text in UTF-8")]
      ]
      for (const [content, expected] of cases) {
        const long = new Uint8Array([...content, ...bytes(blanks)])
        for (const read of [
          parseObject(content),
          Steps.runSync(parseObjectSteps(content)),
          yield* parseObjectSliced(content),
          yield* parseObjectSliced(long)
        ]) {
          if (Either.isLeft(expected) && expected.left instanceof RegExp) {
            assert.match(Either.getOrThrow(Either.flip(read)), expected.left)
          } else assert.deepStrictEqual<unknown>(read, expected)
        }
      }
    })
  )
})

describe("the length of a document's file", () => {
  const value = FastCheck.letrec((tie) => ({
    value: FastCheck.oneof(
      { maxDepth: 4 },
      FastCheck.constantFrom(1, -2.5, true, null, "", "a[{,:}]", '"\\'),
      FastCheck.array(tie("value"), { minLength: 1, maxLength: 4 }),
      FastCheck.dictionary(FastCheck.constantFrom("a", "b,", '"', "d"), tie("value"), { minKeys: 1 })
    )
  })).value

  it("is that of its text with each member in its own line", () =>
    FastCheck.assert(
      FastCheck.property(value, (value) => {
        const file = new TextDecoder().decode(Either.getOrThrow(encode({ value })))
        // A space after each key, and the end of the file, are not counted.
        const spaces = [...file.matchAll(/"(?:[^"\\]|\\.)*"(: )?/g)].filter(
          ([, colon]) => colon !== undefined
        )
        assert.strictEqual(
          Steps.runSync(fileLength(JSON.stringify({ value }))),
          file.length - spaces.length - 1
        )
      })
    ))
})

describe("the numbers of a text", () => {
  it("are visited with their paths, as are its keys", () => {
    const seen: Array<string> = []
    const text = String.raw`{"a": [1, [2, -3.5e+1], {"b": 4}, 5], "c\"\u0064": {"e": {"f": "6"}, "g": 7}, "": 8, "i": []}`
    Steps.runSync(
      visitTokens(text, {
        number: (path, part) => seen.push(`${path.join("/")}=${part}`),
        object: (depth) => seen.push(`{${depth}`),
        key: (path, at) => seen.push(`${path.join("/")}:${text.slice(at, at + 2)}`)
      })
    )
    assert.deepStrictEqual(seen, [
      "{1",
      'a:"a',
      "a/0=1",
      "a/1/0=2",
      "a/1/1=-3.5e+1",
      "{3",
      'a/2/b:"b',
      "a/2/b=4",
      "a/3=5",
      'c"d:"c',
      "{2",
      'c"d/e:"e',
      "{3",
      'c"d/e/f:"f',
      'c"d/g:"g',
      'c"d/g=7',
      ':""',
      "=8",
      'i:"i'
    ])
  })

  it("that JavaScript cannot hold are those whose value is another decimal", () => {
    const digits = FastCheck.stringMatching(/^[0-9]{1,20}$/)
    const number = FastCheck.tuple(
      FastCheck.constantFrom("", "-"),
      digits.map((text) => text.replace(/^0+(?=\d)/, "")),
      FastCheck.oneof(
        FastCheck.constant(""),
        digits.map((text) => `.${text}`)
      ),
      FastCheck.constantFrom("", "", "e5", "E-7", "e+300", "e-400")
    ).map((parts) => parts.join(""))
    FastCheck.assert(
      FastCheck.property(FastCheck.array(number), (texts) => {
        const wrong = texts.flatMap((text, at) => {
          const value = Number(text)
          const isExact = Number.isFinite(value) && decimal(text) === decimal(String(value))
          return isExact ? [] : [{ path: `a[${at}]`, text, value }]
        })
        assert.deepStrictEqual(inexactNumbers(bytes(`{"a": [${texts.join(", ")}]}`)), wrong)
      }),
      { examples: [[["1e400"]], [["1E23", "9007199254740993"]], [["0.10000000000000001"]], [["1e999"]]] }
    )
  })

  it("that are wanted are found inside a value", () => {
    const within = (value: unknown) => [...Steps.runSync(numbersWithin(value, new Set([1, 2])))].sort()
    assert.deepStrictEqual(within({ a: [3, { b: 2 }], c: "1", d: null, e: 1 }), [1, 2])
    assert.deepStrictEqual(within([1, 1, [[3]]]), [1])
    assert.deepStrictEqual(within(2), [2])
    assert.deepStrictEqual(within(undefined), [])
  })
})
