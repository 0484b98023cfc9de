import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { streamCsvRows } from "hucre/csv"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { uniqueColumns } from "./ColumnNames.js"
import { parseCell, parseCellKeepingSpelling } from "./CsvCell.js"
import type { ImportRecord } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"
import { type ByteSource, utf8Text } from "./Utf8Text.js"

interface CsvSettings {
  readonly cells: "text" | "json"
  readonly columns?: ReadonlyArray<string> | undefined
  readonly delimiter: string
  readonly keepSpelling: ReadonlyArray<string>
}

/** The records of a CSV text. The options are validated already. */
export const csvRecords = <E, R>(
  source: ByteSource<E, R>,
  { cells: kind, columns: named, delimiter, keepSpelling }: CsvSettings
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.suspend(() => {
    let columns = named === undefined ? undefined : uniqueColumns(named)
    let row = 0
    return completeRows(utf8Text(source, "fromCsv"), delimiter).pipe(
      Stream.mapConcat((text) => streamCsvRows(text, { delimiter, skipBom: false })),
      Stream.mapEffect((cells) => {
        row++
        if (columns === undefined) {
          columns = uniqueColumns(cells.map((cell) => (cell === null ? null : String(cell))))
          return Effect.succeedNone
        }
        return cells.length === columns.length
          ? Effect.succeedSome(rowRecord(columns, cells, kind, new Set(keepSpelling)))
          : Effect.fail(
              new ValidationError({
                operation: "fromCsv",
                message: `row ${row} has ${cells.length} cells for ${columns.length} columns`,
                hint: "the row may have a delimiter or a quote too many or too few"
              })
            )
      }),
      Stream.filterMap((record) => record)
    )
  })

const rowRecord = (
  columns: ReadonlyArray<string>,
  cells: ReadonlyArray<unknown>,
  mode: "text" | "json",
  spelled: ReadonlySet<string>
) => {
  const record: Record<string, unknown> = Object.create(null)
  columns.forEach((column, index) => {
    const cell = String(cells[index] ?? "")
    const value =
      mode === "text" ? cell : spelled.has(column) ? parseCellKeepingSpelling(cell) : parseCell(cell)
    if (value !== undefined) record[column] = value
  })
  return record
}

const [lineFeed, carriageReturn, quote] = Array.from('\n\r"', (text) => text.charCodeAt(0))

/**
 * Splits the text between rows, never inside a quoted cell, and removes blank lines. As in the parser that reads the
 * rows, a quote opens a quoted cell only at the beginning of a cell.
 */
const completeRows = <E, R>(
  text: Stream.Stream<string, E, R>,
  delimiter: string
): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let rest = ""
    let scanned = 0
    let quoted = false
    let cellIsEmpty = true
    /** The rows that are complete. At the end of the text the last row is complete too. */
    const takeRows = (more: string, ended: boolean): ReadonlyArray<string> => {
      rest += more
      let rows = ""
      let taken = 0
      let start = 0
      // The meaning of a quote or of part of a delimiter depends on the next characters.
      const decidable = ended ? rest.length : rest.length - delimiter.length
      while (scanned < decidable) {
        const unit = rest.charCodeAt(scanned)
        if (quoted) {
          if (unit !== quote) cellIsEmpty = false
          else if (rest.charCodeAt(scanned + 1) === quote) {
            cellIsEmpty = false
            scanned++
          } else quoted = false
          scanned++
        } else if (rest.startsWith(delimiter, scanned)) {
          cellIsEmpty = true
          scanned += delimiter.length
        } else if (
          unit === lineFeed ||
          (unit === carriageReturn && rest.charCodeAt(scanned + 1) !== lineFeed)
        ) {
          scanned++
          if (isBlank(rest, start, scanned)) {
            rows += rest.slice(taken, start)
            taken = scanned
          }
          start = scanned
          cellIsEmpty = true
        } else {
          if (unit === quote && cellIsEmpty) quoted = true
          else cellIsEmpty = false
          scanned++
        }
      }
      if (ended) start = rest.length
      rows += rest.slice(taken, start)
      rest = rest.slice(start)
      scanned -= start
      return rows === "" ? [] : [rows]
    }
    return Stream.concat(
      Stream.mapConcat(text, (part) => takeRows(part, false)),
      Stream.suspend(() => Stream.fromIterable(takeRows("", true)))
    )
  })

const isBlank = (text: string, start: number, end: number) =>
  end - start === 1 || (end - start === 2 && text.charCodeAt(start) === carriageReturn)
