import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import * as Steps from "../../../src/domain/concurrency/Steps.js"
import type { Json } from "../../../src/domain/json/Json.js"
import {
  indexable,
  type LosslessJson,
  mayNeedLossless,
  parseLossless,
  parseLosslessOrEmpty,
  parseLosslessOrEmptySteps,
  parseVerbatimSteps,
  toJson,
  toJsonSteps
} from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber, numberText, pythonNumber } from "../../../src/domain/json/NumberText.js"

const bytes = (text: string) => new TextEncoder().encode(text)
const spelled = (text: string) => new LosslessNumber(text)

describe("JSON with the spelling of its numbers", () => {
  it("keeps the numbers that JavaScript writes otherwise than Python", () => {
    const text = `{"a": 1.0, "b": [1.50, {"c d": 1e2}, -1e-7], "zero": [-0.0, -0], "i": [123456789012345678901, 7],
      "far": 1e400, "text": "1.0", "__proto__": {"f": 2.0}}`
    const read = Either.getOrThrow(parseLossless(bytes(text)))
    const { ["__proto__"]: own, ...rest } = Object.fromEntries(Object.entries(read))
    assert.deepStrictEqual(own, { f: spelled("2.0") })
    assert.deepStrictEqual<unknown>(rest, {
      a: spelled("1.0"),
      b: [1.5, { "c d": spelled("100.0") }, -1e-7],
      zero: [-0, spelled("0")],
      i: [spelled("123456789012345678901"), 7],
      far: Number.POSITIVE_INFINITY,
      text: "1.0"
    })
  })

  it("keeps every number for display", () => {
    const text = '{"a": [1.50, 10E1, 1e400, -0.0, 1], "b": 0.30000000000000001}'
    assert.deepStrictEqual<unknown>(Either.getOrThrow(Steps.runSync(parseVerbatimSteps(bytes(text)))), {
      a: [spelled("1.50"), spelled("10E1"), spelled("1e400"), -0, 1],
      b: spelled("0.30000000000000001")
    })
  })

  it("has the last value of a repeated key, as it is spelled there", () => {
    const cases: ReadonlyArray<readonly [text: string, value: LosslessJson]> = [
      ['{"a": 1.0, "a": 2}', { a: 2 }],
      ['{"a": 1, "a": 1.0}', { a: spelled("1.0") }],
      ['{"a": 1.0, "a": 1}', { a: 1 }],
      ['{"a": 1.0, "a": 1, "a": 1.0}', { a: spelled("1.0") }],
      ['{"a": 1.0, "a": "1"}', { a: "1" }],
      ['{"a": {"b": 1.0}, "a": 5}', { a: 5 }],
      ['{"a": {"b": {"c": 1.0}}, "a": {}}', { a: {} }],
      ['{"a": {"b": 1.0}, "a": {"c": 1}}', { a: { c: 1 } }],
      ['{"a": {"b": 1.0}, "a": null}', { a: null }],
      ['{"a": {"b": {"c": 1.0}}, "a": null}', { a: null }]
    ]
    for (const [text, value] of cases)
      assert.deepStrictEqual<unknown>(parseLossless(bytes(text)), Either.right(value), text)
  })

  it("is the same without the spelling where no number may be written otherwise", () => {
    const digits = FastCheck.stringMatching(/^[0-9]{1,18}$/)
    const nines = FastCheck.constantFrom("9", "99", "999999999999999")
    const whole = FastCheck.oneof(digits, nines).map((text) => text.replace(/^0+(?=\d)/, ""))
    const fraction = FastCheck.option(
      FastCheck.oneof(digits, FastCheck.constantFrom("99", "01", "000000000000001"))
    )
    const exponent = FastCheck.option(FastCheck.integer({ min: -30, max: 30 }), { freq: 3 })
    const number = FastCheck.tuple(FastCheck.boolean(), whole, fraction, exponent).map(
      ([isNegative, whole, fraction, exponent]) =>
        `${isNegative ? "-" : ""}${whole}${fraction === null ? "" : `.${fraction}`}${exponent === null ? "" : `e${exponent}`}`
    )
    FastCheck.assert(
      FastCheck.property(number, (text) => {
        if (mayNeedLossless(`[${text}]`)) return
        assert.strictEqual(pythonNumber(text), numberText(Number(text)))
      }),
      { numRuns: 2000, examples: [["999999999999999.99"], ["-999999999999999.01"], ["16.000000000000001"]] }
    )
    for (const text of ["1.0", "-0", "1e5", "1E+5", "10.20", "1234567890123456"]) {
      for (const end of ["]", ",", " ", "\n", "}"]) assert.isTrue(mayNeedLossless(`[${text}${end}`), text)
    }
    for (const text of ["0", "-1", "0.5", "1.05", '"v1.0-0"', "123456789012345", "123.1234567890123"]) {
      assert.isFalse(mayNeedLossless(`{"a": ${text}}`), text)
    }
  })

  it("is empty, or a problem in words, without a JSON object", () => {
    for (const content of [bytes("[1.0]"), bytes("{"), new Uint8Array([255])]) {
      assert.isTrue(Either.isLeft(parseLossless(content)))
      assert.deepStrictEqual(parseLosslessOrEmpty(content), {})
      assert.deepStrictEqual(Steps.runSync(parseLosslessOrEmptySteps(content)), {})
    }
    assert.deepStrictEqual<unknown>(parseLosslessOrEmpty(bytes('{"a": 1.0}')), { a: spelled("1.0") })
    assert.deepStrictEqual<unknown>(Steps.runSync(parseLosslessOrEmptySteps(bytes('{"a": 1}'))), { a: 1 })
  })
})

describe("a value with spelled numbers", () => {
  it("has JavaScript's numbers as JSON, and is the same value if it has no others", () => {
    const cases: ReadonlyArray<readonly [LosslessJson, Json]> = [
      [spelled("1.0"), 1],
      [
        [1, spelled("2.0"), { a: [spelled("1e3")], b: null }, "x"],
        [1, 2, { a: [1000], b: null }, "x"]
      ],
      [
        { a: spelled("1.0"), b: { c: "x" } },
        { a: 1, b: { c: "x" } }
      ]
    ]
    for (const [value, json] of cases) assert.deepStrictEqual(toJson(value), json)
    const own = Object.defineProperty({}, "__proto__", { value: spelled("1.0"), enumerable: true })
    assert.deepStrictEqual(Object.entries(toJson(own) as object), [["__proto__", 1]])
    const plain = { a: [1, { b: null }], c: "x" }
    assert.strictEqual(toJson(plain), plain)
    assert.strictEqual((toJson({ plain, other: spelled("1.0") }) as { plain: Json })["plain"], plain)
    assert.isUndefined(toJson(undefined))
  })

  it("pauses in large lists and objects", () => {
    const list = Array.from({ length: 2 * Steps.stepSize }, () => 1)
    for (const value of [list, Object.fromEntries(Object.entries(list))]) {
      const steps = toJsonSteps(value)
      assert.deepStrictEqual([steps.next().done, steps.next().done], [false, false])
      assert.deepStrictEqual(steps.next(), { done: true, value })
    }
  })

  it("counts as missing for indexes if it has a number beyond JavaScript's range", () => {
    const far = Number.POSITIVE_INFINITY
    for (const value of ["x", true, null, 1, [1, spelled("1.0")], { a: "x" }]) {
      assert.strictEqual(indexable(value), value)
    }
    for (const value of [far, [1, far], { a: { b: -far } }, undefined]) assert.isUndefined(indexable(value))
  })
})
