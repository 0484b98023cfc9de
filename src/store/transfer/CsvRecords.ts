import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { streamCsvRows } from "hucre/csv"
import { ValidationError } from "../../domain/StoreError.js"
import { parseExactly, UnheldNumber } from "./ExactJson.js"
import { type ImportRecord, uniqueColumns } from "./Records.js"
import type { SourceError } from "./SourceError.js"
import { type ByteSource, utf8Text } from "./Utf8Text.js"

interface Known {
  readonly cells: "text" | "json"
  readonly columns?: ReadonlyArray<string> | undefined
  readonly delimiter: string
}

/** The records of a CSV text, with options that were checked. */
export const csvRecords = <E, R>(
  source: ByteSource<E, R>,
  { cells: kind, columns: named, delimiter }: Known
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
          ? Effect.succeedSome(cellsRecord(columns, cells, kind))
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
  mode: "text" | "json"
) => {
  const record: Record<string, unknown> = Object.create(null)
  columns.forEach((column, index) => {
    const cell = String(cells[index] ?? "")
    const value = mode === "text" ? cell : fromCell(cell)
    if (value !== undefined) record[column] = value
  })
  return record
}

const fromCell = (cell: string): unknown => {
  if (cell === "") return undefined
  if (!/^(?:[-\d[{]|true$|false$|null$)/.test(cell)) return cell
  try {
    return holdsUnheld(parseExactly(cell)) ? cell : JSON.parse(cell)
  } catch {
    return cell
  }
}

const holdsUnheld = (value: unknown): boolean =>
  value instanceof UnheldNumber ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsUnheld))

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
