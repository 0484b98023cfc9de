import { assert, describe, it } from "@effect/vitest"
import { type SortValue, sortKey, tupleSortKey } from "../../../src/domain/indexes/SortKey.js"
import type { LosslessJson } from "../../../src/domain/json/LosslessJson.js"
import { LosslessNumber } from "../../../src/domain/json/NumberText.js"
import { hasTooMany, indexRows, keyOfRows } from "../../../src/store/internal/ordered-tree/IndexRows.js"

const asc = (path: string) => ({ path, order: "asc" as const })

describe("the rows of a document", () => {
  it("are one for every element of a list and every direction, and one where a field is missing", () => {
    const fields = [
      { path: "tags", order: "asc" as const },
      { path: "price", order: "desc" as const }
    ]
    const rowsOf = (document: { readonly [field: string]: SortValue }) => [
      ...indexRows(fields, "a", (path) => document[path])
    ]
    const keyed = (tags: SortValue, price: SortValue) => `${tupleSortKey([tags, price], ["asc", "desc"])}ta`
    assert.deepStrictEqual(rowsOf({ tags: ["x", "y", "x"], price: 5 }), [
      [keyed("x", 5), { tags: "x", price: 5, _id: "a" }],
      [keyed("y", 5), { tags: "y", price: 5, _id: "a" }]
    ])
    assert.deepStrictEqual(rowsOf({ tags: [] }), [[keyed([], undefined), { tags: [], _id: "a" }]])
    assert.deepStrictEqual(rowsOf({}), [[keyed(undefined, undefined), { _id: "a" }]])
    assert.isTrue(keyed("x", 5) < keyed("x", 4) && keyed("x", 4) < keyed("y", 5))
    assert.isTrue(keyed("x", 5).startsWith(sortKey("x")))
  })

  it("have the first spelling of elements that are equal", () => {
    const tags = [new LosslessNumber("1.0"), 1, 2]
    const rows = indexRows([asc("tags")], "a", () => tags)
    assert.deepStrictEqual(
      [...rows.values()],
      [
        { tags: tags[0]!, _id: "a" },
        { tags: 2, _id: "a" }
      ]
    )
  })

  it("lack a field that only JavaScript's objects have", () => {
    const fields = [asc("constructor")]
    assert.strictEqual(keyOfRows(fields)({ _id: "a" }), `${tupleSortKey([undefined], ["asc"])}ta`)
  })

  it("of a manifest are in the order of the ids", () => {
    const keyOf = keyOfRows([])
    assert.isTrue(keyOf({ _id: "a", n: 2 }) < keyOf({ _id: "b", n: 1 }))
  })
})

describe("the combinations of a document's lists", () => {
  const list = (length: number) => Array.from({ length }, (_, n) => n)
  const fields = [asc("a"), asc("b")]
  const numberOf = (document: { readonly [field: string]: LosslessJson }, of = fields) => {
    const valueOf = (path: string) => document[path]
    return hasTooMany(of, valueOf) ? "too many" : indexRows(of, "x", valueOf).size
  }

  it("are at most 10,000", () => {
    assert.strictEqual(numberOf({ a: list(100), b: list(100) }), 10_000)
    assert.strictEqual(numberOf({ a: list(101), b: list(100) }), "too many")
    assert.strictEqual(numberOf({ a: list(5001), b: list(2) }), "too many")
  })

  it("are as many as the elements of a single list, without a limit", () => {
    assert.strictEqual(numberOf({ a: list(10_001) }, [asc("a")]), 10_001)
    assert.strictEqual(numberOf({ a: list(10_001), b: 1 }), 10_001)
    assert.strictEqual(numberOf({ a: [], b: list(10_001) }), 10_001)
    assert.strictEqual(numberOf({ a: list(10_001) }), 10_001)
  })

  it("have no rows if they are too many, and their values are none", () => {
    const lists = list(101)
    assert.strictEqual(indexRows(fields, "x", () => lists).size, 0)
  })
})
