import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { streamCsvRows } from "hucre/csv"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { jsonCell, spelledCell } from "./CsvCell.js"
import { type ImportRecord, uniqueColumns } from "./Records.js"
import type { SourceError } from "./SourceError.js"
import { type ByteSource, utf8Text } from "./Utf8Text.js"

interface Known {
  readonly cells: "text" | "json"
  readonly columns?: ReadonlyArray<string> | undefined
  readonly delimiter: string
  readonly keepSpelling: ReadonlyArray<string>
}

/** The records of a CSV text, with options that were checked. */
export const csvRecords = <E, R>(
  source: ByteSource<E, R>,
  { cells: kind, columns: named, delimiter, keepSpelling }: Known
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.suspend(() => {
    let columns = named === undefined ? undefined : uniqueColumns(named)
    let row = 0
    return wholeRows(utf8Text(source, "fromCsv"), delimiter).pipe(
      Stream.mapConcat((text) => streamCsvRows(text, { delimiter, skipBom: false })),
      Stream.mapEffect((cells) => {
        row++
        if (columns === undefined) {
          columns = uniqueColumns(cells.map((cell) => (cell === null ? null : String(cell))))
          return Effect.succeedNone
        }
        return cells.length === columns.length
          ? Effect.succeedSome(cellsRecord(columns, cells, kind, new Set(keepSpelling)))
          : Effect.fail(
              new ValidationError({
                operation: "fromCsv",
                message: `row ${row} has ${cells.length} cells for ${columns.length} columns`,
                hint: "a delimiter or a quote may be missing or too many in it"
              })
            )
      }),
      Stream.filterMap((record) => record)
    )
  })

const cellsRecord = (
  columns: ReadonlyArray<string>,
  cells: ReadonlyArray<unknown>,
  mode: "text" | "json",
  spelled: ReadonlySet<string>
) => {
  const record: Record<string, unknown> = Object.create(null)
  columns.forEach((column, index) => {
    const cell = String(cells[index] ?? "")
    const value = mode === "text" ? cell : spelled.has(column) ? spelledCell(cell) : jsonCell(cell)
    if (value !== undefined) record[column] = value
  })
  return record
}

const [lineFeed, carriageReturn, quote] = Array.from('\n\r"', (text) => text.charCodeAt(0))

/**
 * The text cut where rows end, never inside a quoted cell, and without its blank lines. A quote opens a cell only where
 * the cell begins, as for the parser that reads the rows.
 */
const wholeRows = <E, R>(text: Stream.Stream<string, E, R>, delimiter: string): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let rest = ""
    let scanned = 0
    let quoted = false
    let cellIsEmpty = true
    /** The rows that are whole by now; at the end of the text the last one is, too. */
    const cut = (more: string, ended: boolean): ReadonlyArray<string> => {
      rest += more
      let rows = ""
      let taken = 0
      let start = 0
      // What a quote or a delimiter means may show only with what comes after it.
      const known = ended ? rest.length : rest.length - delimiter.length
      while (scanned < known) {
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
      Stream.mapConcat(text, (part) => cut(part, false)),
      Stream.suspend(() => Stream.fromIterable(cut("", true)))
    )
  })

/** Whether a row is empty. */
const isBlank = (text: string, start: number, end: number) =>
  end - start === 1 || (end - start === 2 && text.charCodeAt(start) === carriageReturn)
