import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import { parseCsv } from "hucre/csv"
import { readXlsx } from "hucre/xlsx"
import { formatRows } from "../../src/console/results/Export.js"
import { workbook } from "../../src/console/results/Workbook.js"
import { cellText, cellValue, containsRounded, isRounded } from "../../src/console/values/Cell.js"
import type { Json, JsonObject } from "../../src/domain/json/Json.js"

const rows: ReadonlyArray<JsonObject> = [
  { _id: "a", _rev: 1, name: 'say "hi", then\nleave', price: -1.5, tags: ["x", "y"] },
  { _id: "b", _rev: 2, name: "=HYPERLINK(1)", price: 3, tags: [] },
  { _id: "c", _rev: 3, name: "a | b <script>alert(1)</script>", extra: "hidden" }
]
const columns = ["_id", "name", "price", "tags"]

const text = fc.string({ unit: "grapheme" })
const documents = fc.array(
  fc.record({ _id: text, name: fc.oneof(text, fc.constantFrom("=1+1", "+2", "-3", "@a", "\tx", "'q")) })
)

describe("cells", () => {
  it("marks whole numbers that JavaScript may have rounded", () => {
    for (const value of [2 ** 53, -(2 ** 60), 1e300]) assert.isTrue(isRounded(value))
    for (const value of [0, -1, 2 ** 53 - 1, 0.5, 1e-9, "9007199254740993", null]) {
      assert.isFalse(isRounded(value))
    }
    assert.isTrue(containsRounded({ a: [{ b: 2 ** 60 }] }))
    let deep: Json = 1
    for (let i = 0; i < 100_000; i++) deep = [deep]
    assert.isFalse(containsRounded({ a: [{ b: 2 ** 20 }, null, "x"], deep }))
  })
})

describe("export", () => {
  it("JSON and NDJSON hold exactly the shown columns", () => {
    const expected = rows.map((row) =>
      Object.fromEntries(
        columns.filter((column) => Object.hasOwn(row, column)).map((column) => [column, row[column]])
      )
    )
    assert.deepStrictEqual(JSON.parse(formatRows("JSON", rows, columns)), expected)
    assert.deepStrictEqual(
      formatRows("NDJSON", rows, columns)
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
      expected
    )
  })

  it("keys of the prototype are ordinary keys", () => {
    const hostile = JSON.parse('[{"_id":"a","__proto__":{"x":1}}]') as ReadonlyArray<JsonObject>
    assert.strictEqual(
      formatRows("NDJSON", hostile, ["_id", "__proto__", "constructor"]),
      '{"_id":"a","__proto__":{"x":1}}\n'
    )
  })

  it("CSV is read back by another reader, and no formula survives", () => {
    const read = parseCsv(formatRows("CSV", rows, columns))
    assert.deepStrictEqual(read[0], columns)
    assert.deepStrictEqual(read[1], ["a", 'say "hi", then\nleave', "-1.5", '["x","y"]'])
    assert.deepStrictEqual(read[2], ["b", "'=HYPERLINK(1)", "3", "[]"])
    assert.strictEqual(read.length, 4)
  })

  it.prop(
    "CSV keeps every text, behind an apostrophe where it looks like a formula",
    [documents],
    ([given]) => {
      const read = parseCsv(formatRows("CSV", given, ["_id", "name"]), { skipEmptyRows: false })
      const guarded = (value: string) => (/^[=+\-@\t\r]/.test(value) ? `'${value}` : value)
      assert.deepStrictEqual(
        read.slice(1),
        given.map((row) => [guarded(row._id), guarded(row.name)])
      )
    }
  )

  it("Markdown keeps one row a line and no markup", () => {
    const lines = formatRows("Markdown", rows, columns).trimEnd().split("\n")
    assert.strictEqual(lines.length, 5)
    assert.strictEqual(lines[4], "| c | a \\| b &lt;script>alert(1)&lt;/script> |  |  |")
  })

  it("xlsx holds exactly the shown rows and columns, and no formula", async () => {
    const read = await readXlsx(await workbook("products", rows, columns))
    const [sheet] = read.sheets
    assert.deepStrictEqual(sheet?.rows[0], columns)
    assert.deepStrictEqual(
      sheet?.rows.slice(1).map((row) => row[1]),
      rows.map((row) => cellText(cellValue(row, "name")))
    )
    assert.strictEqual(sheet?.rows.length, 4)
    const formulas = [...(sheet?.cells?.values() ?? [])].filter((cell) => "formula" in cell && cell.formula)
    assert.deepStrictEqual(formulas, [])
  })
})
