import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import { runSync } from "../../../src/domain/concurrency/Steps.js"
import { endOfString, isShort, parse, parseSliced } from "../../../src/domain/json/JsonParser.js"

const outcome = (read: () => unknown): unknown => {
  try {
    return { value: read() }
  } catch (error) {
    assert.instanceOf(error, SyntaxError)
    return "refused"
  }
}

const same = (text: string, piece: number) =>
  assert.deepStrictEqual(
    outcome(() => runSync(parse(text, piece))),
    outcome(() => JSON.parse(text)),
    `${text} in pieces of ${piece}`
  )

/** Texts of JSON values with white space, escapes and keys of every kind. */
const texts = fc
  .tuple(
    fc.jsonValue({ depthSize: "large", maxDepth: 8 }),
    fc.constantFrom(undefined, 1, "\t", " \r\n"),
    fc.array(fc.constantFrom("__proto__", "constructor", '"\\', "a", "1", "0", "\u2028", "\ud800"), {
      minLength: 1,
      maxLength: 5
    })
  )
  .map(([value, space, keys]) =>
    JSON.stringify(
      keys.reduce<unknown>((inner, key) => [{ [`${key}`]: inner, [`${key}!`]: 1 }, key], value),
      null,
      space
    )
  )

const change = fc.record({
  at: fc.nat(),
  drop: fc.nat({ max: 3 }),
  add: fc.constantFrom(
    "",
    ",",
    "[",
    "]",
    "{",
    "}",
    '"',
    ":",
    "\\",
    "-",
    "1",
    "null",
    " ",
    "\u00a0",
    ",,",
    "]["
  )
})

describe("a JSON text in pieces", () => {
  it("is read as JSON.parse reads it", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, piece) => same(text, piece)),
      { numRuns: 2000 }
    )
  })

  it("is refused where a member is missing before a nested one", () => {
    for (const text of [
      "[,[1]]",
      "[,{}]",
      "[1,,[2]]",
      "[[1],,[2]]",
      '{,"a":[1]}',
      '{"a":1,,"b":[2]}',
      '{"a":[1],,"b":[2]}'
    ]) {
      for (let piece = 1; piece <= text.length; piece++) same(text, piece)
    }
  })

  it("is refused where JSON.parse refuses it", () => {
    fc.assert(
      fc.property(
        texts,
        fc.integer({ min: 1, max: 40 }),
        fc.array(change, { minLength: 1, maxLength: 2 }),
        (text, piece, changes) => {
          const changed = changes.reduce((all, { add, at, drop }) => {
            const place = at % (all.length + 1)
            return all.slice(0, place) + add + all.slice(place + drop)
          }, text)
          same(changed, piece)
        }
      ),
      { numRuns: 5000 }
    )
  })

  it("keeps the last of equal keys, and __proto__ as a key like others", () => {
    const members = Array.from({ length: 50 }, (_, at) => `"k${at % 7}":[${at}]`).join(",")
    const text = `{${members},"__proto__":{"a":[1]},"k3":0}`
    same(text, 8)
    const read = runSync(parse(text, 8)) as object
    assert.deepStrictEqual(Object.keys(read), Object.keys(JSON.parse(text)))
    assert.strictEqual(Object.getPrototypeOf(read), Object.prototype)
    assert.strictEqual((read as { readonly a?: unknown }).a, undefined)
  })

  it("takes as long as it is, however deep it is", () => {
    const levels = 300_000
    const text = "[".repeat(levels) + "]".repeat(levels)
    let value = runSync(parse(text, 1000)) as ReadonlyArray<ReadonlyArray<never>>
    let depth = 1
    for (; value.length > 0; value = value[0]!) depth++
    assert.strictEqual(depth, levels)
  })

  it("pauses while it reads members with keys of their own", () => {
    const text = `[${Array.from({ length: 86_000 }, (_, at) => `{"k${at}":1}`).join(",")}]`
    const steps = parse(text)
    let count = 0
    while (steps.next().done !== true) count++
    assert.isAbove(count, 15)
  })
})

const piece = 65_536

/** Members of a list, a little shorter than a piece, that each have a key of their own. */
const members = (level: number) => {
  const all: Array<string> = []
  for (let length = 0; length < piece - 40; length += all.at(-1)!.length + 1) {
    all.push(`{"k${level}_${all.length}":1}`)
  }
  return all.slice(0, -1).join(",")
}

const timed = (run: () => unknown) => {
  const began = performance.now()
  run()
  return performance.now() - began
}

const longestStep = (text: string) => {
  const steps = parse(text)
  let longest = 0
  for (let done = false; !done; ) {
    longest = Math.max(
      longest,
      timed(() => {
        done = steps.next().done === true
      })
    )
  }
  return longest
}

/** The number of steps in which a text is read. */
const stepsOf = (text: string, piece: number) => {
  const steps = parse(text, piece)
  let count = 0
  while (steps.next().done !== true) count++
  return count
}

describe("the steps in which a JSON text is read", () => {
  const list = (items: number) => `[${Array.from({ length: items }, () => "10").join(",")}]`

  it("are one for a text of at most two pieces", () => {
    assert.isTrue(isShort({ length: 20 }, 10))
    assert.isFalse(isShort({ length: 21 }, 10))
    assert.isTrue(isShort({ length: 131_072 }))
    assert.isFalse(isShort({ length: 131_073 }))
    assert.strictEqual(stepsOf(list(6).replace("[", "[ "), 10), 0)
    assert.isAbove(stepsOf(list(7), 10), 0)
    assert.throws(() => runSync(parse("[1,]", 10)), /^(?!Unexpected text after position)/)
  })

  it("are one or two for each piece, in lists, objects and nested ones", () => {
    // A pause where a piece is read, and one where the scan has passed a piece.
    const counts = [
      [list(100), 30],
      [list(100).replaceAll("10", "[1]"), 30],
      [list(100).replaceAll("10", "[[1,2],[3]]"), 30],
      [`{${Array.from({ length: 50 }, (_, n) => `"k${n}":[${n}]`).join(",")}}`, 30],
      [`{${Array.from({ length: 50 }, (_, n) => `"k${n}":${n}`).join(",")}}`, 30],
      [`[${`"${"x".repeat(100)}",`.repeat(20)}1]`, 30],
      [`${"[".repeat(100)}${"]".repeat(100)}`, 30],
      [`${'{"a":['.repeat(30)}1${"]}".repeat(30)}`, 30],
      [`[[1],${" ".repeat(100)}[2]]`, 30],
      [" ".repeat(100), 30]
    ] as const
    assert.deepStrictEqual(
      counts.map(([text, piece]) => {
        try {
          return stepsOf(text, piece)
        } catch {
          return "refused"
        }
      }),
      [20, 26, 107, 35, 25, 41, 102, 68, 6, "refused"]
    )
  })

  it("say where a text is refused", () => {
    const message = (text: string) => {
      try {
        runSync(parse(text, 4))
      } catch (error) {
        return (error as SyntaxError).message
      }
      return "read"
    }
    assert.deepStrictEqual(
      [
        "[1,2,3,4]]",
        "[1,2,3,4]x",
        "[1,2,3,x]",
        "[1,2,3,,4]",
        "[1,2,3,4,]",
        '{"a":1,"b"}',
        "[[1,2,3]x,4]",
        "[1,2,3,4}",
        "[1,2,3,4,5",
        "x[1,2,3,4]",
        ",,,,,,,,,,",
        '[1,2,3,"abc'
      ].map(message),
      [9, 9, 5, 5, 5, 7, 8, 8, 10, 1, 0, 11].map((at) => `Unexpected text after position ${at}`)
    )
  })

  it.effect("can be interleaved with other work", () =>
    Effect.gen(function* () {
      const text = list(100_000)
      assert.deepStrictEqual(yield* parseSliced(text), JSON.parse(text))
      assert.deepStrictEqual(yield* parseSliced("[]"), [])
      assert.instanceOf(yield* Effect.flip(parseSliced(`${text}]`)), SyntaxError)
      assert.instanceOf(yield* Effect.flip(parseSliced("[")), SyntaxError)
    })
  )

  it("find the end of a string behind any number of backslashes", () => {
    const ends = ['"abc"', '"a\\"b"', '"a\\\\"b"', '"\\\\\\"', '"', '"abc', '""""'].map((text) =>
      endOfString(text, 0)
    )
    assert.deepStrictEqual(ends, [4, 5, 4, 5, 1, 4, 1])
    assert.strictEqual(endOfString('x"a"', 1), 3)
  })
})

describe("a JSON text of many levels", () => {
  // A step is "a few milliseconds": of 48 levels, each of which waits for a piece, none is read before the innermost is.
  it("is read in steps although no level of it is as long as a piece by itself", () => {
    const levels = Array.from({ length: 48 }, (_, level) => `[${members(level)},`)
    const text = `${levels.join("")}[]${"]".repeat(levels.length)}`
    const rounds = Array.from({ length: 3 }, () => longestStep(text) / timed(() => JSON.parse(text)))
    assert.isBelow(Math.min(...rounds), 0.5, "one step reads as much as JSON.parse at once")
  })

  it("is read in steps where they are objects, too", () => {
    const levels = Array.from(
      { length: 48 },
      (_, level) => `{${members(level).slice(1, -1).replaceAll("},{", ",")},"next":`
    )
    const text = `${levels.join("")}{}${"}".repeat(levels.length)}`
    const rounds = Array.from({ length: 3 }, () => longestStep(text) / timed(() => JSON.parse(text)))
    assert.isBelow(Math.min(...rounds), 0.5, "one step reads as much as JSON.parse at once")
  })
})
