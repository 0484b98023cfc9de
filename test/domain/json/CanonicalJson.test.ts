import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import {
  encode,
  encodeInline,
  encodeSliced,
  JsonMap,
  maxDepth
} from "../../../src/domain/json/CanonicalJson.js"
import { inexactNumbers, parseObject } from "../../../src/domain/json/JsonText.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"

const bytes = (value: unknown) => Buffer.from(Either.getOrThrow(encode(value)))

const problem = (value: unknown) => Either.getOrThrow(Either.flip(encode(value)))

const python = `
import json, sys
for line in sys.stdin:
    print(json.dumps(json.dumps(json.loads(line), indent=2, sort_keys=True, ensure_ascii=False)))
`

const numbers = FastCheck.oneof(
  FastCheck.double({ noNaN: true, noDefaultInfinity: true }),
  FastCheck.integer(),
  FastCheck.maxSafeInteger(),
  FastCheck.constantFrom(
    0,
    -0,
    1e-5,
    1.5e-7,
    0.0001,
    5e-324,
    1e21,
    1.7976931348623157e308,
    123456789012345680000
  )
)

const strings = FastCheck.oneof(
  FastCheck.string({ unit: "binary" }),
  FastCheck.constantFrom(
    "__proto__",
    "constructor",
    "",
    "\u2028\u007f",
    "\ufeff",
    "𝄞",
    "\uffff",
    '"\\/\b\f\n\r\t\u0001'
  )
)

const document = FastCheck.letrec((tie) => ({
  value: FastCheck.oneof(
    { depthSize: "small", withCrossShrink: true },
    FastCheck.constantFrom(null, true, false),
    numbers,
    strings,
    FastCheck.array(tie("value"), { maxLength: 5 }),
    tie("object")
  ),
  object: FastCheck.dictionary(strings, tie("value"), { maxKeys: 6, noNullPrototype: true })
})).object

describe("canonical JSON", () => {
  it("has the bytes of Python's json.dumps over random documents", () => {
    const documents = FastCheck.sample(document, 1500)
    // The text that Python reads is ours without its layout, so that numbers reach it as we write them.
    const input = documents.map((value) => bytes(value).toString().replace(/\n */g, "")).join("\n")
    const lines = execFileSync("python3", ["-c", python], {
      input,
      maxBuffer: 1 << 28,
      env: { ...process.env, PYTHONIOENCODING: "utf-8" }
    })
      .toString()
      .trimEnd()
      .split("\n")
    assert.strictEqual(lines.length, documents.length)
    documents.forEach((value, at) => {
      assert.strictEqual(bytes(value).toString(), `${JSON.parse(lines[at]!) as string}\n`)
    })
  }, 60_000)

  it("reads back what it wrote", () =>
    FastCheck.assert(
      FastCheck.property(document, (value) => {
        const read = Either.getOrThrow(parseObject(bytes(value)))
        assert.deepStrictEqual(bytes(read), bytes(value))
        assert.deepStrictEqual(inexactNumbers(bytes(value)), [])
      })
    ))

  it("orders keys by code point at every level", () => {
    assert.strictEqual(
      bytes({ "\uffff": 1, "𝄞": 2, a: { b: 1, B: 2, _: 3 } }).toString(),
      '{\n  "a": {\n    "B": 2,\n    "_": 3,\n    "b": 1\n  },\n  "\uffff": 1,\n  "𝄞": 2\n}\n'
    )
  })

  it("names the place of what JSON cannot hold", () => {
    const cycle: Record<string, unknown> = {}
    cycle["self"] = cycle
    const cases: ReadonlyArray<readonly [unknown, string]> = [
      [{ a: { b: [1, Number.NaN] } }, "a.b[1]"],
      [{ a: Number.POSITIVE_INFINITY }, "a"],
      [{ "a key": 1n }, '["a key"]'],
      [{ list: [undefined] }, "list[0]"],
      [{ list: new Array(2) }, "list[0]"],
      [{ f: () => 1 }, "f"],
      [{ s: Symbol("s") }, "s"],
      [{ when: new Date(0) }, "when"],
      [{ m: new Map() }, "m"],
      [{ b: new Uint8Array(2) }, "b"]
    ]
    for (const [value, path] of cases) assert.strictEqual(problem(value).path, path)
    assert.include(problem(cycle).message, `deeper than ${maxDepth}`)
    const thrower = {
      get bad(): number {
        throw new Error("no")
      }
    }
    assert.include(problem(thrower).message, "no")
    assert.strictEqual(bytes({ a: undefined, b: 1 }).toString(), '{\n  "b": 1\n}\n')
  })

  it("says in words what JSON cannot hold", () => {
    class Person {
      readonly name = "Ada"
    }
    const anonymous = Object.assign(Object.create(null), { toJSON: () => 1 })
    const cases: ReadonlyArray<readonly [value: unknown, message: string]> = [
      [Number.NaN, "NaN is not a number that JSON can hold"],
      [Number.NEGATIVE_INFINITY, "-Infinity is not a number that JSON can hold"],
      [undefined, "undefined in a list"],
      [1n, "a bigint is not JSON"],
      [() => 1, "a function is not JSON"],
      [Symbol("s"), "a symbol is not JSON"],
      [new Date(0), "a Date is not JSON"],
      [new Map(), "a Map is not JSON"],
      [new (class {})().constructor, "a function is not JSON"],
      [Object.assign(new (class {})(), { toJSON: () => 1 }), "an object that is not plain is not JSON"],
      [{ toJSON: () => 1 }, "a Object is not JSON"],
      [anonymous, "an object that is not plain is not JSON"],
      [Object.assign(new Date(0), { constructor: "Date" }), "an object that is not plain is not JSON"]
    ]
    for (const [value, message] of cases) {
      assert.deepStrictEqual(problem([value]), { path: "[0]", message }, message)
      assert.deepStrictEqual(Either.flip(encodeInline([value])), Either.right({ path: "[0]", message }))
    }
    const thrown = {
      get bad(): number {
        throw new Error("no")
      }
    }
    assert.deepStrictEqual(problem(thrown), { path: "", message: "cannot be read: Error: no" })
    assert.strictEqual(bytes(new Person()).toString(), '{\n  "name": "Ada"\n}\n')
    assert.strictEqual(bytes({ toJSON: 1 }).toString(), '{\n  "toJSON": 1\n}\n')
  })

  it("has up to 900 levels of lists and objects", () => {
    const nested = (levels: number, wrap: (inner: unknown) => unknown) => {
      let value: unknown = 1
      for (let level = 0; level < levels; level++) value = wrap(value)
      return value
    }
    for (const wrap of [(inner: unknown) => [inner], (inner: unknown) => ({ a: inner })]) {
      assert.isTrue(Either.isRight(encode(nested(maxDepth, wrap))))
      const { message, path } = problem(nested(maxDepth + 1, wrap))
      assert.strictEqual(message, "nested deeper than 900 levels, or a cycle")
      assert.strictEqual(path.replaceAll(/\[0\]|\.?a/g, "x"), "x".repeat(maxDepth))
    }
  })

  it("has an indent of two spaces, and in one line none", () => {
    const value = {
      b: [[], {}, [1, [2]], { c: null }],
      a: new LosslessNumber("1.0"),
      é: { y: true, x: "\n" }
    }
    assert.strictEqual(
      bytes(value).toString(),
      [
        "{",
        '  "a": 1.0,',
        '  "b": [',
        "    [],",
        "    {},",
        "    [",
        "      1,",
        "      [",
        "        2",
        "      ]",
        "    ],",
        "    {",
        '      "c": null',
        "    }",
        "  ],",
        '  "é": {',
        '    "x": "\\n",',
        '    "y": true',
        "  }",
        "}",
        ""
      ].join("\n")
    )
    assert.deepStrictEqual(
      encodeInline(value),
      Either.right('{"a": 1.0, "b": [[], {}, [1, [2]], {"c": null}], "é": {"x": "\\n", "y": true}}')
    )
    for (const [scalar, text] of [
      ["a", '"a"'],
      [1, "1"],
      [false, "false"],
      [null, "null"],
      [new LosslessNumber("1e400"), "1e400"]
    ] as const) {
      assert.deepStrictEqual(encodeInline(scalar), Either.right(text))
      assert.strictEqual(bytes(scalar).toString(), `${text}\n`)
    }
    const map = new JsonMap(
      new Map<string, unknown>([
        ["b", [1]],
        ["__proto__", new JsonMap(new Map([["a", 1]]))],
        ["gone", undefined]
      ])
    )
    assert.deepStrictEqual(encodeInline(map), Either.right('{"__proto__": {"a": 1}, "b": [1]}'))
    assert.strictEqual(
      bytes(map).toString(),
      '{\n  "__proto__": {\n    "a": 1\n  },\n  "b": [\n    1\n  ]\n}\n'
    )
  })

  it.effect("is the same for large values, in pauses and at once", () =>
    Effect.gen(function* () {
      const size = 2 * Steps.stepSize
      const key = (n: number) => `${(n * 7919) % 100_003}é𝄞`
      for (const count of [1, size - 1, size, size + 1, 5 * size + 3]) {
        for (const order of [(n: number) => n, (n: number) => count - n]) {
          const members = Array.from(
            { length: count },
            (_, n) => [key(order(n)), "ü".repeat(n % 90)] as const
          )
          const value = { list: members.map(([, text]) => text), ...Object.fromEntries(members) }
          const sorted = Object.fromEntries(
            Object.entries(value).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
          )
          const map = new JsonMap(new Map(Object.entries(value)))
          const expected = `${JSON.stringify(sorted, null, 2)}\n`
          // JavaScript puts keys that are integers first.
          assert.strictEqual(bytes(map).toString(), expected)
          assert.strictEqual(bytes(value).toString(), expected)
          assert.deepStrictEqual(
            Buffer.from(Either.getOrThrow(yield* encodeSliced(value))).toString(),
            expected
          )
        }
      }
      const problemLast = [...Array.from({ length: 5000 }, () => 0), 1n]
      assert.deepStrictEqual(
        yield* encodeSliced(problemLast),
        Either.left({ path: "[5000]", message: "a bigint is not JSON" })
      )
    })
  )

  it("finds the numbers that JavaScript cannot hold", () => {
    const text =
      '{"a": 9007199254740993, "b": [1, {"c d": 1e400}], "s": "9007199254740993", "ok": 1.0, "f": 0.1, "e": 1E+16}'
    assert.deepStrictEqual(
      inexactNumbers(Buffer.from(text)).map(({ path, text }) => [path, text]),
      [
        ["a", "9007199254740993"],
        ['b[1]["c d"]', "1e400"]
      ]
    )
  })
})
