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
    // An empty cell of an id is a field without a value, because an import looks for the field.
    if (value !== undefined || spelled.has(column)) record[column] = value
  })
  return record
}

const [lineFeed, carriageReturn, quote] = Array.from('\n\r"', (text) => text.charCodeAt(0))

/**
 * Splits the text between rows, never inside a quoted cell, and removes blank lines. As in the parser that reads the
 * rows, a quote opens a quoted cell only at the beginning of a cell. That parser accepts a quoted cell without an end, and
 * text after the end, and changes both: they are refused here.
 */
const completeRows = <E, R>(
  text: Stream.Stream<string, E, R>,
  delimiter: string
): Stream.Stream<string, E | ValidationError, R> =>
  Stream.suspend(() => {
    let rest = ""
    let scanned = 0
    let line = 1
    let openedOn = 0
    let cell: "empty" | "plain" | "quoted" | "closed" = "empty"
    /** The rows that are complete. At the end of the text the last row is complete too. */
    const takeRows = (more: string, ended: boolean): Stream.Stream<string, ValidationError> => {
      rest += more
      let rows = ""
      let taken = 0
      let start = 0
      let problem: ValidationError | undefined
      // The meaning of a quote or of part of a delimiter depends on the next characters.
      const decidable = ended ? rest.length : rest.length - delimiter.length
      while (scanned < decidable && problem === undefined) {
        const unit = rest.charCodeAt(scanned)
        const endsLine =
          unit === lineFeed || (unit === carriageReturn && rest.charCodeAt(scanned + 1) !== lineFeed)
        if (endsLine) line++
        if (cell === "quoted") {
          if (unit === quote) {
            if (rest.charCodeAt(scanned + 1) === quote) scanned++
            else cell = "closed"
          }
          scanned++
        } else if (rest.startsWith(delimiter, scanned)) {
          cell = "empty"
          scanned += delimiter.length
        } else if (endsLine) {
          scanned++
          if (isBlank(rest, start, scanned)) {
            rows += rest.slice(taken, start)
            taken = scanned
          }
          start = scanned
          cell = "empty"
        } else {
          if (cell === "closed" && unit !== carriageReturn) {
            problem = misquoted(
              `the quoted cell that begins on line ${openedOn} has text after its closing quote`
            )
          } else if (unit === quote && cell === "empty") {
            cell = "quoted"
            openedOn = line
          } else if (cell !== "closed") cell = "plain"
          scanned++
        }
      }
      if (ended && cell === "quoted") {
        problem = misquoted(`the quoted cell that begins on line ${openedOn} has no closing quote`)
      }
      if (ended && problem === undefined) start = rest.length
      rows += rest.slice(taken, start)
      rest = rest.slice(start)
      scanned -= start
      const complete = rows === "" ? Stream.empty : Stream.succeed(rows)
      return problem === undefined ? complete : Stream.concat(complete, problem)
    }
    return Stream.concat(
      Stream.flatMap(text, (part) => takeRows(part, false)),
      Stream.suspend(() => takeRows("", true))
    )
  })

const misquoted = (message: string) =>
  new ValidationError({
    operation: "fromCsv",
    message,
    hint: "a quote inside a quoted cell is written twice; the file may also be incomplete"
  })

const isBlank = (text: string, start: number, end: number) =>
  end - start === 1 || (end - start === 2 && text.charCodeAt(start) === carriageReturn)
