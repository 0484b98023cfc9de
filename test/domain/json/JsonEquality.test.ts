import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import type { Json } from "../../../src/domain/json/Json.js"
import { equalJson, fieldMatches } from "../../../src/domain/json/JsonEquality.js"

/** Values of which no two are equal. */
const values: ReadonlyArray<Json | undefined> = [
  undefined,
  null,
  true,
  false,
  0,
  1,
  "",
  "1",
  [],
  {},
  [1],
  ["1"],
  [1, 2],
  [2, 1],
  [[1]],
  [{}],
  { a: 1 },
  { a: "1" },
  { b: 1 },
  { a: 1, b: 1 },
  { a: 1, b: 2 },
  { a: { b: 1 } },
  { a: [1] },
  { 0: 1 },
  { 0: 1, length: 1 },
  { length: 0 },
  { toString: null },
  { a: null }
]

describe("equality of JSON values", () => {
  it("holds for a copy of a value alone", () => {
    for (const [at, a] of values.entries()) {
      for (const [other, b] of values.entries()) {
        assert.strictEqual(equalJson(a, structuredClone(b)), at === other, JSON.stringify([a, b]))
      }
    }
  })

  it("ignores the order of keys", () => {
    assert.isTrue(equalJson({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }))
  })

  it.prop("is that of the values' texts", [fc.jsonValue(), fc.jsonValue()], ([a, b]) => {
    const [one, two] = [a, b].map((value) => JSON.parse(JSON.stringify(value)) as Json)
    assert.isTrue(equalJson(one, JSON.parse(JSON.stringify(one))))
    if (JSON.stringify(one) === JSON.stringify(two)) assert.isTrue(equalJson(one, two))
  })

  it("a field matches its value and each element of a list", () => {
    assert.isFalse(fieldMatches(undefined, 1))
    assert.isFalse(fieldMatches(undefined, null))
    assert.isTrue(fieldMatches({ a: 1 }, { a: 1 }))
    assert.isTrue(fieldMatches([1, { a: 1 }], { a: 1 }))
    assert.isTrue(fieldMatches([1, 2], [1, 2]))
    assert.isFalse(fieldMatches([1, 2], "1"))
    assert.isFalse(fieldMatches([[1]], 1))
    assert.isTrue(fieldMatches([], []))
    assert.isFalse(fieldMatches({ 0: 1 }, 1))
  })
})
