import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { jsonCellText } from "./CellText.js"
import { sheetNames } from "./SheetName.js"
import {
  dateStyle,
  escapeXml,
  headerStyle,
  workbookFiles,
  worksheetEnd,
  worksheetPath,
  worksheetStart
} from "./SpreadsheetML.js"
import { encodeZip } from "./Zip.js"

/** One worksheet. Its first row holds the column names, and is styled, frozen and has a filter. */
export interface Sheet<E = never, R = never> {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  readonly rows: Stream.Stream<JsonObject, E, R>
}

const maxColumns = 16_384
const maxRows = 1_048_575
const maxText = 32_767

/** The number of rows that are compressed together. */
const rowsPerChunk = 128

/**
 * The bytes of an Excel workbook (ECMA-376, Transitional), produced while the rows are read, in constant memory.
 * Numbers and booleans become cells of that type. Timestamps in the store's format become dates. Lists and objects
 * become JSON text. Text never becomes a formula, and is truncated to 32,767 characters, which is Excel's limit.
 */
export const encodeXlsx = <E, R>(
  sheets: ReadonlyArray<Sheet<E, R>>
): Stream.Stream<Uint8Array, E | ValidationError, R> =>
  Stream.suspend(() => {
    const problem = problemOf(sheets)
    if (problem !== undefined) return Stream.fail(problem)
    const files = workbookFiles(sheetNames(sheets.map(({ name }) => name)))
    return encodeZip<E | ValidationError, R>([
      ...files.map(([name, content]) => ({ name, content: Stream.succeed(content) })),
      ...sheets.map((sheet, index) => ({ name: worksheetPath(index), content: encodeSheet(sheet) }))
    ])
  })

const invalid = (message: string) => new ValidationError({ operation: "exportExcel", message })

const problemOf = (sheets: ReadonlyArray<Sheet<any, any>>): ValidationError | undefined => {
  if (sheets.length === 0) return invalid("a workbook needs at least one sheet")
  const wide = sheets.find(({ columns }) => columns.length > maxColumns)
  return wide === undefined
    ? undefined
    : invalid(`sheet ${wide.name} has ${wide.columns.length} columns, Excel allows ${maxColumns}`)
}

const encodeSheet = <E, R>(sheet: Sheet<E, R>): Stream.Stream<string, E | ValidationError, R> =>
  Stream.suspend(() => {
    const titles = sheet.columns.length === 0 ? ["_id"] : sheet.columns.map(cleanText)
    const letters = titles.map((_, index) => columnName(index))
    let row = 1
    const encode = (document: JsonObject) => {
      row++
      let cells = ""
      for (let index = 0; index < sheet.columns.length; index++) {
        const column = sheet.columns[index]!
        if (Object.hasOwn(document, column)) cells += encodeCell(letters[index]! + row, document[column]!)
      }
      return `<row r="${row}">${cells}</row>`
    }
    const header = titles.map((title, index) => encodeText(`${letters[index]}1`, title, headerStyle))
    const start = worksheetStart(titles.map(({ length }) => Math.min(40, Math.max(10, length + 4))))
    return Stream.succeed(`${start}<row r="1">${header.join("")}</row>`).pipe(
      Stream.concat(
        Stream.mapChunksEffect(sheet.rows, (rows) =>
          row - 1 + rows.length > maxRows
            ? invalid(
                `an Excel sheet has at most ${maxRows} rows and this one has more: set a limit, or export CSV`
              )
            : Effect.sync(() => Chunk.map(rows, encode))
        ).pipe(
          Stream.rechunk(rowsPerChunk),
          Stream.mapChunks((texts) => Chunk.of(Chunk.join(texts, "")))
        )
      ),
      Stream.concat(Stream.suspend(() => Stream.succeed(worksheetEnd(`A1:${letters.at(-1)}${row}`))))
    )
  })

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const firstExcelDate = Date.UTC(1900, 2, 1)

const encodeCell = (reference: string, value: Json): string => {
  switch (typeof value) {
    case "number":
      return `<c r="${reference}"><v>${value}</v></c>`
    case "boolean":
      return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`
    case "string": {
      if (value === "") return ""
      const time = value.length === 24 && timestamp.test(value) ? Date.parse(value) : Number.NaN
      if (time >= firstExcelDate && new Date(time).toISOString() === value) {
        return `<c r="${reference}" s="${dateStyle}"><v>${time / 86_400_000 + 25_569}</v></c>`
      }
      return encodeText(reference, value)
    }
    default:
      return value === null ? "" : encodeText(reference, jsonCellText(value))
  }
}

const encodeText = (reference: string, text: string, style = 0) => {
  const safe = text.length <= maxText && !needsEscaping.test(text) ? text : escapeText(cleanText(text))
  const space = atEdge.test(safe) ? ' xml:space="preserve"' : ""
  const styled = style === 0 ? "" : ` s="${style}"`
  return `<c r="${reference}"${styled} t="inlineStr"><is><t${space}>${safe}</t></is></c>`
}

/** Characters that are escaped or removed. Most texts have none. */
const needsEscaping = /[&<>_\u0000-\u001f\ud800-\udfff\ufffe\uffff]/
const atEdge = /^\s|\s$|[\t\n]| {2}/

/** Removes control characters except tab and line breaks, replaces lone surrogates, and truncates to Excel's limit. */
const cleanText = (text: string) =>
  (text.length > maxText ? truncated(text) : text.toWellFormed()).replace(
    /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g,
    ""
  )

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Copies the first characters. A slice would keep the whole text in memory. */
const truncated = (text: string) => decoder.decode(encoder.encode(text.slice(0, maxText)))

/** Escapes XML, and text that Excel would read as its own escape (`_x0041_`). */
const escapeText = (text: string) => escapeXml(text).replace(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_")

const columnName = (index: number): string =>
  index < 26
    ? String.fromCharCode(65 + index)
    : columnName(Math.floor(index / 26) - 1) + columnName(index % 26)
