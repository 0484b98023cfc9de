import { assert, describe, it } from "@effect/vitest"
import { fromHash, initialRoute, toHash } from "../../src/console/navigation/Route.js"
import { suggestedFilters, withFilter } from "../../src/console/query/SuggestedFilters.js"
import type { Json } from "../../src/domain/json/Json.js"
import { matchesFilter } from "../../src/store/browse/FilterMatcher.js"

const operatorsOf = (value: Json | undefined) =>
  suggestedFilters({ path: "field", value }).map(({ operator }) => operator)

describe("filters from a cell", () => {
  it("numbers and dates have an order, a field that is absent has no value", () => {
    const ordered = ["is", "isNot", "atLeast", "atMost", "exists", "missing"]
    for (const value of [0, -1.5, 2 ** 53 - 1, "2024-02-29", "2024-02-29T10:00:00.000Z"]) {
      assert.deepStrictEqual(operatorsOf(value), ordered, String(value))
    }
    for (const value of ["", "2024", "brass", true, null, [1], { a: 1 }]) {
      assert.deepStrictEqual(operatorsOf(value), ["is", "isNot", "exists", "missing"], String(value))
    }
    assert.deepStrictEqual(operatorsOf(undefined), ["exists", "missing"])
    assert.deepStrictEqual(operatorsOf("a".repeat(1001)), ["exists", "missing"])
    assert.deepStrictEqual(operatorsOf(2 ** 60), ["exists", "missing"], "the file may say 2^60 + 1")
    assert.deepStrictEqual(operatorsOf({ a: [2 ** 60] }), ["exists", "missing"])
  })

  it("what is chosen is true of its document, its opposite is not, also after a way through the address", () => {
    for (const value of [
      5,
      "5",
      "",
      null,
      true,
      2 ** 53 - 1,
      1e-300,
      "2024-02-29",
      [1, 2],
      { a: [null] }
    ] as const) {
      for (const filter of suggestedFilters({ path: "field", value })) {
        const read = fromHash(toHash({ ...initialRoute, collection: "t", filters: [filter] })).filters[0]!
        assert.deepStrictEqual(read, filter)
        const expected = filter.operator !== "isNot" && filter.operator !== "missing"
        assert.strictEqual(matchesFilter({ _id: "a", field: value }, read), expected, JSON.stringify(filter))
      }
    }
    const [isNull] = suggestedFilters({ path: "field", value: null })
    assert.isFalse(matchesFilter({ _id: "a" }, isNull!), "null is not absent")
  })

  it("the same filter is added once", () => {
    const [is, isNot] = suggestedFilters({ path: "field", value: 5 })
    const [text] = suggestedFilters({ path: "field", value: "5" })
    assert.deepStrictEqual(withFilter([is!], { ...is! }), [is!])
    assert.deepStrictEqual(withFilter([is!], isNot!), [is!, isNot!])
    assert.deepStrictEqual(withFilter([is!], text!), [is!, text!])
  })
})
