import { assert, describe, it } from "@effect/vitest"
import { tableColumns } from "../../src/console/query/TableColumns.js"
import type { JsonObject } from "../../src/domain/json/Json.js"
import type { QueryAnswer } from "../../src/store/browse/BrowseQuery.js"
import { columnsOf } from "../../src/store/browse/DocumentColumns.js"

const fields = ["name", "price"]

const answerOf = (source: QueryAnswer["source"], documents: ReadonlyArray<JsonObject>): QueryAnswer => ({
  collection: "things",
  documents,
  columns: columnsOf(documents),
  cursor: null,
  source,
  manifest: { current: true, fields, missing: [], extra: [] }
})

const written = { _id: "a", _rev: 1, _created_at: "", _updated_at: "", more: [{ x: 1 }], name: "n" }

describe("the columns of a table", () => {
  it("are the same however the rows were found, unless whole documents are asked for", () => {
    const document = { ...written, price: { amount: 1, currency: { code: "EUR" } } }
    const row = { _id: "a", name: "n", price: document.price }
    const initial = ["_id", "_rev", "_updated_at", "name", "price.amount", "price.currency.code"]
    for (const answer of [
      answerOf("manifest", [row]),
      answerOf("scan", [document]),
      answerOf("index", [document])
    ]) {
      const columns = tableColumns(answer, false)
      assert.deepStrictEqual(columns.initial, initial, answer.source)
      assert.deepStrictEqual(columns.unread, answer.source === "manifest" ? ["_rev", "_updated_at"] : [])
    }
    assert.deepStrictEqual(tableColumns(answerOf("scan", [document]), true).initial, [
      ...initial.slice(0, 3),
      "more",
      ...initial.slice(3),
      "_created_at"
    ])
  })

  it("are those of the nested fields also if a value is null or empty, which has a column of its own", () => {
    for (const other of [null, {}]) {
      const { all } = tableColumns(
        answerOf("scan", [
          { _id: "a", o: { x: 1, p: { y: 2 } } },
          { _id: "b", o: other },
          { _id: "c", o: { p: other } }
        ]),
        true
      )
      assert.deepStrictEqual(
        all,
        ["_id", "_rev", "_updated_at", "o", "o.x", "o.p", "o.p.y"],
        JSON.stringify(other)
      )
    }
  })

  it("stay one column if the field has other values too, if it is a map, and if its names are ambiguous", () => {
    const map = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, i]))
    for (const [a, b] of [
      [{ x: 1 }, [1]],
      [{ x: 1 }, "text"],
      [{}, null],
      [map, map],
      [{ "x.y": 1 }, { x: { y: 2 } }]
    ] as const) {
      const { all } = tableColumns(
        answerOf("scan", [
          { _id: "a", o: a },
          { _id: "b", o: b }
        ]),
        true
      )
      assert.deepStrictEqual(all, ["_id", "_rev", "_updated_at", "o"], JSON.stringify([a, b]))
    }
  })
})
