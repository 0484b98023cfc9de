import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, FastCheck as fc, Stream } from "effect"
import { readXlsx } from "hucre/xlsx"
import readExcelFile from "read-excel-file/node"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { exportColumnsOf } from "../../../src/store/transfer/ExportColumns.js"
import { encodeXlsx } from "../../../src/store/transfer/Xlsx.js"

const bytesOf = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.runCollect(stream), (chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))

const fieldsOf = (documents: ReadonlyArray<JsonObject>) =>
  exportColumnsOf(new Set(documents.flatMap((document) => Object.keys(document))))

const sheet = (name: string, documents: ReadonlyArray<JsonObject>) => ({
  name,
  columns: fieldsOf(documents),
  rows: Stream.fromIterable(documents)
})

const documents: ReadonlyArray<JsonObject> = [
  {
    name: "=1+1",
    _id: "a",
    _rev: 3,
    _created_at: "2026-11-21T03:00:00.123Z",
    flag: true,
    price: -1.5e-7,
    none: null,
    tags: ["x", { b: 1, a: 2 }],
    text: "x'<&>\"\r\n\ttail ",
    odd: "a\u0001b\ud800c _x0041_ \u{1f600}"
  },
  { name: "second", _id: "b", _rev: 1, late: "only here", long: "y".repeat(40_000) }
]

const openpyxl = `
import sys, json, datetime, openpyxl
from openpyxl.utils.escape import unescape
book = openpyxl.load_workbook(sys.argv[1])
out = []
for ws in book.worksheets:
    rows = [[(c.isoformat() if isinstance(c, datetime.datetime) else unescape(c) if isinstance(c, str) else c) for c in r] for r in ws.iter_rows(values_only=True)]
    out.append({"name": ws.title, "rows": rows, "freeze": ws.freeze_panes, "filter": ws.auto_filter.ref,
      "bold": [c.font.b for c in ws[1]], "types": [[c.data_type for c in r] for r in ws.iter_rows()]})
print(json.dumps(out))
`

const hasOpenpyxl = (() => {
  try {
    execFileSync("/usr/bin/python3", ["-c", "import openpyxl"], { stdio: "ignore" })
    return existsSync("/usr/bin/python3")
  } catch {
    return false
  }
})()

const readByOpenpyxl = (bytes: Uint8Array) => {
  const directory = mkdtempSync(join(tmpdir(), "chainstore-xlsx-"))
  try {
    const file = join(directory, "book.xlsx")
    writeFileSync(file, bytes)
    return JSON.parse(execFileSync("/usr/bin/python3", ["-c", openpyxl, file], { encoding: "utf8" }))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe("Xlsx", () => {
  it.effect.skipIf(!hasOpenpyxl)("is read by openpyxl with its types, styles and filter", () =>
    Effect.gen(function* () {
      const bytes = yield* bytesOf(
        encodeXlsx([sheet("Products", documents), sheet("products", []), sheet("a/b:c", documents)])
      )
      const [products, twin, third] = readByOpenpyxl(bytes)
      assert.deepStrictEqual([products.name, twin.name, third.name], ["Products", "products~2", "a b c"])
      const [header, first, second] = products.rows
      assert.deepStrictEqual(header.slice(0, 4), ["_id", "_rev", "_created_at", "name"])
      const cell = (row: ReadonlyArray<unknown>, column: string) => row[header.indexOf(column)]
      assert.strictEqual(cell(first, "name"), "=1+1")
      assert.strictEqual(products.types[1][header.indexOf("name")], "s")
      assert.strictEqual(cell(first, "_rev"), 3)
      assert.strictEqual(cell(first, "price"), -1.5e-7)
      assert.strictEqual(cell(first, "flag"), true)
      assert.strictEqual(cell(first, "none"), null)
      assert.strictEqual(cell(first, "tags"), '["x", {"a": 2, "b": 1}]')
      assert.strictEqual(cell(first, "text"), "x'<&>\"\r\n\ttail ")
      assert.strictEqual(cell(first, "_created_at"), "2026-11-21T03:00:00.123000")
      assert.strictEqual(cell(first, "odd"), "ab\ufffdc _x0041_ \u{1f600}")
      assert.strictEqual((cell(second, "long") as string).length, 32_767)
      assert.strictEqual(products.freeze, "A2")
      assert.strictEqual(products.filter, "A1:L3")
      assert.isTrue(products.bold.every(Boolean))
    })
  )

  it.effect.prop(
    "gives back through an independent reader what was written",
    [
      fc.array(
        fc.dictionary(
          fc.stringMatching(/^[a-z]{1,6}$/),
          fc.oneof(
            fc.integer(),
            fc.boolean(),
            fc.string({ minLength: 1, unit: "grapheme" }),
            fc.double({ noNaN: true, noDefaultInfinity: true })
          ),
          { minKeys: 1, maxKeys: 6, noNullPrototype: true }
        ),
        { minLength: 1, maxLength: 20 }
      )
    ],
    ([rows]) =>
      Effect.gen(function* () {
        const columns = fieldsOf(rows)
        const bytes = yield* bytesOf(encodeXlsx([{ name: "s", columns, rows: Stream.fromIterable(rows) }]))
        const book = yield* Effect.promise(() => readXlsx(new Uint8Array(bytes)))
        const read = book.sheets[0]!.rows.slice(1)
        rows.forEach((row, index) => {
          columns.forEach((column, at) => {
            const given = row[column]
            const expected = Object.is(given, -0) ? 0 : given
            assert.deepStrictEqual(read[index]?.[at] ?? undefined, expected)
          })
        })
      }),
    { fastCheck: { numRuns: 60 } }
  )

  it.effect("is read by a second library, with its numbers, booleans, dates and texts", () =>
    Effect.gen(function* () {
      const bytes = yield* bytesOf(encodeXlsx([sheet("Products", documents), sheet("b", documents)]))
      const books = yield* Effect.promise(() => readExcelFile(bytes))
      assert.deepStrictEqual(
        books.map((book) => book.sheet),
        ["Products", "b"]
      )
      const [header, first, second] = books[0]!.data as ReadonlyArray<ReadonlyArray<unknown>>
      const cell = (row: ReadonlyArray<unknown> | undefined, column: string) => row?.[header!.indexOf(column)]
      assert.strictEqual(cell(first, "name"), "=1+1")
      assert.strictEqual(cell(first, "price"), -1.5e-7)
      assert.strictEqual(cell(first, "flag"), true)
      assert.strictEqual(cell(first, "tags"), '["x", {"a": 2, "b": 1}]')
      assert.deepStrictEqual(cell(first, "_created_at"), new Date("2026-11-21T03:00:00.123Z"))
      assert.strictEqual(cell(first, "none"), null)
      assert.strictEqual(cell(second, "late"), "only here")
    })
  )

  it.effect("refuses what a sheet cannot hold", () =>
    Effect.gen(function* () {
      const many = Array.from({ length: 16_385 }, (_, index) => `c${index}`)
      const wide = yield* Effect.flip(bytesOf(encodeXlsx([{ name: "w", columns: many, rows: Stream.empty }])))
      assert.include(wide.message, "16384")
      const none = yield* Effect.flip(bytesOf(encodeXlsx([])))
      assert.include(String(none), "at least one sheet")
    })
  )
})
