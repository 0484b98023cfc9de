import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { encode, maxDepth } from "../../../src/domain/json/CanonicalJson.js"
import { inexactNumbers, parseObject } from "../../../src/domain/json/JsonText.js"
import { compareCodePoints } from "../../../src/domain/text/CodePointOrder.js"

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
    FastCheck.assert(
      FastCheck.property(strings, strings, (a, b) => {
        const points = (text: string) => [...text].map((each) => each.codePointAt(0)!)
        const [left, right] = [points(a), points(b)]
        const at = left.findIndex((point, index) => point !== right[index])
        const expected = at === -1 ? left.length - right.length : left[at]! - (right[at] ?? -1)
        assert.strictEqual(Math.sign(compareCodePoints(a, b)), Math.sign(expected))
      })
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
