import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"
import { type Filter, parseValue, printValue } from "../../src/store/browse/Filter.js"
import { matchesFilter } from "../../src/store/browse/FilterMatcher.js"
import { valuesAt } from "../../src/store/browse/PathValues.js"

const document: JsonObject = {
  _id: "a",
  name: "Brass plane",
  price: 12.5,
  stock: "12",
  tags: ["tools", "hand"],
  size: { width: 3, "deep.est": { value: true } },
  variants: [
    { sku: "x1", price: 1 },
    { sku: "x2", price: 20 }
  ],
  none: null
}

const matches = (path: string, operator: Filter["operator"], value?: Json) =>
  matchesFilter(document, value === undefined ? { path, operator } : { path, operator, value })

const json = fc.jsonValue() as fc.Arbitrary<Json>

describe("filters", () => {
  it("reach into objects, lists and keys that hold dots", () => {
    assert.deepStrictEqual(valuesAt(document, "size.width"), [3])
    assert.deepStrictEqual(valuesAt(document, "size.deep.est.value"), [true])
    assert.deepStrictEqual(valuesAt(document, "variants.sku"), ["x1", "x2"])
    assert.deepStrictEqual(valuesAt(document, "variants.1.price"), [20])
    assert.deepStrictEqual(valuesAt(document, "variants.7.price"), [])
    assert.deepStrictEqual(valuesAt(document, "constructor.name"), [])
  })

  it("compare by type", () => {
    assert.isTrue(matches("price", "is", 12.5))
    assert.isFalse(matches("stock", "is", 12))
    assert.isTrue(matches("stock", "is", "12"))
    assert.isTrue(matches("tags", "is", "hand"))
    assert.isTrue(matches("tags", "is", ["tools", "hand"]))
    assert.isFalse(matches("tags", "is", ["hand", "tools"]))
    assert.isTrue(matches("none", "is", null))
    assert.isFalse(matches("gone", "is", null))
  })

  it("order numbers with numbers and text with text", () => {
    assert.isTrue(matches("variants.price", "greaterThan", 10))
    assert.isFalse(matches("variants.price", "greaterThan", 20))
    assert.isTrue(matches("variants.price", "atLeast", 20))
    assert.isTrue(matches("price", "lessThan", 13))
    assert.isTrue(matches("price", "atMost", 12.5))
    assert.isFalse(matches("stock", "lessThan", 100))
    assert.isFalse(matches("none", "lessThan", 100))
  })

  it("search in text and lists without regard to case", () => {
    assert.isTrue(matches("name", "contains", "PLANE"))
    assert.isTrue(matches("tags", "contains", "oo"))
    assert.isTrue(matches("name", "startsWith", "brass"))
    assert.isFalse(matches("name", "startsWith", "plane"))
  })

  it("distinguish existing values from missing ones", () => {
    assert.isTrue(matches("none", "exists"))
    assert.isTrue(matches("gone", "missing"))
    assert.isFalse(matches("size.width", "missing"))
  })

  it.prop(
    "reach what the longest keys lead to",
    [fc.array(fc.constantFrom("a", "b", "a.b", "b.a", "", "0"), { minLength: 1, maxLength: 4 }), json],
    ([keys, value]) => {
      const stored = JSON.parse(JSON.stringify(value)) as Json
      const nested = keys.reduceRight<Json>((inner, key) => ({ a: 1, [key]: inner }), [[stored]])
      const model = (from: Json, segments: ReadonlyArray<string>): ReadonlyArray<Json> => {
        if (segments.length === 0) return [from]
        if (Array.isArray(from)) {
          if (!/^\d+$/.test(segments[0]!)) return from.flatMap((element) => model(element as Json, segments))
          const element = from[Number(segments[0])] as Json | undefined
          return element === undefined ? [] : model(element, segments.slice(1))
        }
        if (typeof from !== "object" || from === null) return []
        for (let length = segments.length; length > 0; length--) {
          const key = segments.slice(0, length).join(".")
          if (Object.hasOwn(from, key)) return model((from as JsonObject)[key]!, segments.slice(length))
        }
        return []
      }
      for (const path of [keys.join("."), `${keys.join(".")}.0`, `${keys.join(".")}.a.b`]) {
        assert.deepStrictEqual(valuesAt(nested as JsonObject, path), model(nested, path.split(".")))
      }
    }
  )

  it("take time that grows with path, value and document, and not with their product", () => {
    const n = 200_000
    const keys = Object.fromEntries(Array.from({ length: n }, (_, i) => [".".repeat(i % 100) + i, i]))
    const wide = { text: "a".repeat(n), list: Array.from({ length: n }, () => "a"), keys } as JsonObject
    const half = "a".repeat(n / 4)
    const cases: ReadonlyArray<Filter> = [
      { path: ".".repeat(n), operator: "exists" },
      { path: `keys${".".repeat(n)}`, operator: "exists" },
      { path: "text", operator: "contains", value: `${half}b${half}` },
      { path: "list", operator: "contains", value: Array.from({ length: n }, () => "b") },
      { path: "list", operator: "startsWith", value: Array.from({ length: n }, () => "b") }
    ]
    const began = performance.now()
    for (const filter of cases) assert.isFalse(matchesFilter(wide, filter), filter.path.slice(0, 9))
    assert.isBelow(performance.now() - began, 5000)
  })

  it.prop("find a text wherever it is", [fc.stringMatching(/^[ab]{0,80}$/), fc.nat(60)], ([text, length]) => {
    for (const wanted of [text.slice(-length), `${text.slice(0, length)}b`, "ab".repeat(length)]) {
      const found = matchesFilter({ text }, { path: "text", operator: "contains", value: wanted })
      assert.strictEqual(found, text.includes(wanted), wanted)
    }
  })

  it.prop("isNot is the opposite of is, missing of exists", [json, json], ([stored, asked]) => {
    const one = { field: stored } as JsonObject
    const holds = (operator: Filter["operator"]) =>
      matchesFilter(one, { path: "field", operator, value: asked })
    assert.notStrictEqual(holds("is"), holds("isNot"))
    assert.notStrictEqual(holds("exists"), holds("missing"))
  })

  it.prop("what is typed and printed again is the same value", [json], ([value]) => {
    const written = JSON.parse(JSON.stringify(value)) as Json
    assert.deepStrictEqual(parseValue(printValue(written)), written)
  })
})
