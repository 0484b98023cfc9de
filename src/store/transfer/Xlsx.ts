import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { strFromU8, unzipSync } from "fflate"
import { writeXlsx as writeWorkbook } from "hucre/xlsx"
import type { Json, JsonObject } from "../../domain/Document.js"
import { ValidationError } from "../../domain/StoreError.js"
import { jsonText } from "./Columns.js"
import { sheetNames } from "./SheetName.js"
import { encodeZip } from "./Zip.js"

/** One worksheet: its columns stand in a styled, frozen header row with a filter. */
export interface Sheet<E = never, R = never> {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  readonly rows: Stream.Stream<JsonObject, E, R>
}

const maxColumns = 16_384
const maxRows = 1_048_575
const maxText = 32_767

/** Rows whose text is made while that of the rows before is compressed. */
const rowsAtOnce = 128

/**
 * The bytes of an Excel workbook (ECMA-376, Transitional), produced while the rows are read, in constant memory.
 * Numbers and booleans are cells of their kind; timestamps as the store writes them are dates; lists and objects are
 * JSON text; text is never a formula. Text beyond 32,767 characters is cut there, as Excel would.
 */
export const encodeXlsx = <E, R>(
  sheets: ReadonlyArray<Sheet<E, R>>
): Stream.Stream<Uint8Array, E | ValidationError, R> =>
  Stream.unwrap(
    Effect.map(template(sheets), ({ dateStyle, fixed, worksheets }) =>
      encodeZip<E | ValidationError, R>([
        ...fixed.map(([name, content]) => ({ name, content: Stream.succeed(strFromU8(content)) })),
        ...worksheets.map((part) => ({ name: part.part, content: encodeSheet(part, dateStyle) }))
      ])
    )
  )

interface Worksheet<E, R> extends Sheet<E, R> {
  readonly head: string
  readonly tail: (rows: number) => string
}

const headerStyle = {
  font: { bold: true, color: { rgb: "FFFFFF" } },
  fill: { type: "pattern", pattern: "solid", fgColor: { rgb: "1F4E79" } }
} as const
const dateStyle = { numFmt: "yyyy-mm-dd hh:mm:ss.000" }

/** A workbook with the header rows alone, made by the library; the rows are put where its worksheets leave off. */
const template = <E, R>(sheets: ReadonlyArray<Sheet<E, R>>) =>
  Effect.gen(function* () {
    if (sheets.length === 0) {
      return yield* invalid("a workbook needs at least one sheet")
    }
    for (const sheet of sheets) {
      if (sheet.columns.length > maxColumns) {
        return yield* invalid(
          `sheet ${sheet.name} has ${sheet.columns.length} columns, Excel holds ${maxColumns}`
        )
      }
    }
    const names = sheetNames(sheets.map((sheet) => sheet.name))
    const bytes = yield* Effect.promise(() =>
      writeWorkbook({ sheets: sheets.map((sheet, index) => headerOnly(names[index]!, sheet.columns)) })
    )
    const parts = Object.entries(unzipSync(bytes))
    const path = (index: number) => `xl/worksheets/sheet${index + 1}.xml`
    const paths = new Set(sheets.map((_, index) => path(index)))
    const contents = new Map(parts)
    const first = strFromU8(contents.get(path(0))!)
    return {
      fixed: parts.filter(([name]) => !paths.has(name)),
      dateStyle: /<row r="2"><c r="A2" s="(\d+)"/.exec(first)![1]!,
      worksheets: sheets.map((sheet, index) =>
        cutWorksheet(path(index), sheet, strFromU8(contents.get(path(index))!))
      )
    }
  })

const invalid = (message: string) => Effect.fail(new ValidationError({ operation: "exportExcel", message }))

const headerOnly = (name: string, columns: ReadonlyArray<string>) => {
  const titles = columns.length === 0 ? ["_id"] : columns.map(cleanText)
  return {
    name,
    rows: [titles, [new Date(0)]],
    columns: titles.map((title) => ({ width: Math.min(40, Math.max(10, title.length + 4)) })),
    freezePane: { rows: 1 },
    autoFilter: { range: `A1:${columnName(titles.length - 1)}1` },
    cells: new Map<string, object>([
      ...titles.map((title, index): [string, object] => [
        `0,${index}`,
        { value: title, type: "string", style: headerStyle }
      ]),
      ["1,0", { value: new Date(0), style: dateStyle }]
    ])
  }
}

const cutWorksheet = <E, R>(
  name: string,
  sheet: Sheet<E, R>,
  xml: string
): Worksheet<E, R> & { readonly part: string } => {
  const sample = xml.indexOf('<row r="2">')
  const after = xml.indexOf("</sheetData>")
  return {
    ...sheet,
    name,
    part: name,
    head: xml.slice(0, sample).replace(/<dimension [^>]*\/>/, ""),
    tail: (rows) => xml.slice(after).replace(/(<autoFilter ref="A1:[A-Z]+)1"/, `$1${rows + 1}"`)
  }
}

const encodeSheet = <E, R>(
  sheet: Worksheet<E, R>,
  date: string
): Stream.Stream<string, E | ValidationError, R> =>
  Stream.suspend(() => {
    let row = 1
    const letters = sheet.columns.map((_, index) => columnName(index))
    const encode = (document: JsonObject) => {
      row++
      let cells = ""
      for (let index = 0; index < letters.length; index++) {
        const column = sheet.columns[index]!
        if (Object.hasOwn(document, column)) {
          cells += encodeCell(letters[index]! + row, document[column]!, date)
        }
      }
      return `<row r="${row}">${cells}</row>`
    }
    return Stream.succeed(sheet.head).pipe(
      Stream.concat(
        Stream.mapChunksEffect(sheet.rows, (rows) =>
          row - 1 + rows.length > maxRows
            ? invalid(
                `a sheet of Excel holds ${maxRows} rows and this one has more: set a limit, or export CSV`
              )
            : Effect.sync(() => Chunk.map(rows, encode))
        ).pipe(
          // A row's text is cut to what cells hold; only then are many of them put together.
          Stream.rechunk(rowsAtOnce),
          Stream.mapChunks((texts) => Chunk.of(Chunk.join(texts, "")))
        )
      ),
      Stream.concat(Stream.suspend(() => Stream.succeed(sheet.tail(row - 1))))
    )
  })

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const firstDay = Date.UTC(1900, 2, 1)

const encodeCell = (reference: string, value: Json, date: string): string => {
  switch (typeof value) {
    case "number":
      return `<c r="${reference}"><v>${value}</v></c>`
    case "boolean":
      return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`
    case "string": {
      if (value === "") return ""
      const time = value.length === 24 && timestamp.test(value) ? Date.parse(value) : Number.NaN
      if (time >= firstDay && new Date(time).toISOString() === value) {
        return `<c r="${reference}" s="${date}"><v>${time / 86_400_000 + 25_569}</v></c>`
      }
      return encodeText(reference, value)
    }
    default:
      return value === null ? "" : encodeText(reference, jsonText(value))
  }
}

const encodeText = (reference: string, text: string) => {
  const safe = text.length <= maxText && !unusual.test(text) ? text : escapeText(cleanText(text))
  const space = atEdge.test(safe) ? ' xml:space="preserve"' : ""
  return `<c r="${reference}" t="inlineStr"><is><t${space}>${safe}</t></is></c>`
}

/** What may have to be escaped or dropped; most texts hold none of it. */
const unusual = /[&<>_\u0000-\u001f\ud800-\udfff\ufffe\uffff]/
const atEdge = /^\s|\s$|[\t\n]| {2}/

/** What a cell can hold: no control characters but tab and line ends, whole surrogate pairs, Excel's length. */
const cleanText = (text: string) =>
  (text.length > maxText ? beginning(text) : text.toWellFormed()).replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
    ""
  )

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** A copy: a slice would keep all of the text alive. */
const beginning = (text: string) => decoder.decode(encoder.encode(text.slice(0, maxText)))

/** XML's escapes, and Excel's own for text that looks like one (`_x0041_`). */
const escapeText = (text: string) =>
  text
    .replace(/[&<>\r]/g, (unit) =>
      unit === "&" ? "&amp;" : unit === "<" ? "&lt;" : unit === ">" ? "&gt;" : "&#13;"
    )
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")

const columnName = (index: number): string =>
  index < 26
    ? String.fromCharCode(65 + index)
    : columnName(Math.floor(index / 26) - 1) + columnName(index % 26)
