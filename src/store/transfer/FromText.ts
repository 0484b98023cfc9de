import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { streamCsvRows } from "hucre/csv"
import { ValidationError } from "../../domain/StoreError.js"
import { parseExactly, UnheldNumber } from "./ExactJson.js"
import { type ImportRecord, uniqueColumns } from "./Records.js"
import { SourceError } from "./SourceError.js"

/** Bytes as a stream, or as anything that hands them out in pieces: a file's `createReadStream`, a `fetch` body. */
export type ByteSource<E = never, R = never> =
  | Stream.Stream<Uint8Array, E, R>
  | AsyncIterable<Uint8Array>
  | Iterable<Uint8Array>

const streamed = <E, R>(source: ByteSource<E, R>): Stream.Stream<Uint8Array, E | SourceError, R> => {
  if (Stream.StreamTypeId in source) return source as Stream.Stream<Uint8Array, E, R>
  if (!(Symbol.asyncIterator in source)) return Stream.fromIterable(source as Iterable<Uint8Array>)
  return Stream.fromAsyncIterable(
    source as AsyncIterable<Uint8Array>,
    (cause) =>
      new SourceError({
        operation: "read",
        message: `the bytes cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause
      })
  )
}

export interface CsvOptions {
  /** Default: comma. */
  readonly delimiter?: string | undefined
  /** Names of the columns; without them the first row holds the names. */
  readonly columns?: ReadonlyArray<string> | undefined
  /**
   * How a cell that is not quoted is read: `text` (the default) leaves it as it stands; `json` reads numbers, `true`,
   * `false`, `null`, lists and objects as JSON does, and an empty cell as a missing field; a number that JavaScript
   * cannot hold exactly stays text.
   */
  readonly cells?: "text" | "json" | undefined
}

/** Records of a CSV text (RFC 4180) in UTF-8, in constant memory. A row of another width than its header is a `ValidationError`. */
export const fromCsv = <E = never, R = never>(
  source: ByteSource<E, R>,
  options: CsvOptions = {}
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> => {
  const delimiter = options.delimiter ?? ","
  let columns = options.columns === undefined ? undefined : uniqueColumns(options.columns)
  let row = 0
  return wholeRows(streamed(source)).pipe(
    Stream.mapConcat((text) => streamCsvRows(text, { delimiter, skipEmptyRows: true })),
    Stream.mapEffect((cells) => {
      row++
      if (columns === undefined) {
        columns = uniqueColumns(cells.map((cell) => (cell === null ? null : String(cell))))
        return Effect.succeedNone
      }
      return cells.length === columns.length
        ? Effect.succeedSome(cellsRecord(columns, cells, options.cells ?? "text"))
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
}

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

/** The text cut where rows end, never inside quotes. */
const wholeRows = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let rest = ""
    let quoted = false
    let scanned = 0
    const cut = (text: string) => {
      rest += text
      let end = 0
      for (; scanned < rest.length; scanned++) {
        const unit = rest.charCodeAt(scanned)
        if (unit === 34) quoted = !quoted
        else if (unit === 10 && !quoted) end = scanned + 1
      }
      const rows = rest.slice(0, end)
      rest = rest.slice(end)
      scanned -= end
      return rows === "" ? [] : [rows]
    }
    return Stream.concat(
      Stream.mapConcat(withoutMark(Stream.decodeText(bytes)), cut),
      Stream.suspend(() => (rest === "" ? Stream.empty : Stream.succeed(rest)))
    )
  })

const withoutMark = <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<string, E, R> =>
  Stream.suspend(() => {
    let first = true
    return Stream.map(text, (part) => {
      if (part === "" || !first) return part
      first = false
      return part.replace(/^\uFEFF/, "")
    })
  })

/**
 * Records of a text with one JSON object a line, in UTF-8, in constant memory. Blank lines are passed over. A number
 * that JavaScript cannot hold exactly stands in its record as an `UnheldNumber`, which an import refuses by its path.
 */
export const fromNdjson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  withoutMark(Stream.decodeText(streamed(source))).pipe(
    Stream.splitLines,
    Stream.zipWithIndex,
    Stream.filter(([line]) => line.trim() !== ""),
    Stream.mapEffect(([line, index]) =>
      Effect.try({
        try: () => {
          const value = parseExactly(line)
          if (typeof value !== "object" || value === null || Array.isArray(value))
            throw new Error("it is not an object")
          return value as ImportRecord
        },
        catch: (cause) =>
          new ValidationError({
            operation: "fromNdjson",
            message: `line ${index + 1} is not a JSON object: ${cause instanceof Error ? cause.message : cause}`,
            cause
          })
      })
    )
  )

/** Records of a JSON text that is a list of objects. The text is held in memory: for big files use NDJSON. */
export const fromJson = <E = never, R = never>(
  source: ByteSource<E, R>
): Stream.Stream<ImportRecord, E | SourceError | ValidationError, R> =>
  Stream.unwrap(
    Stream.decodeText(streamed(source)).pipe(
      Stream.runCollect,
      Effect.flatMap((parts) =>
        Effect.try({
          try: () => {
            const value = parseExactly(Chunk.join(parts, "").replace(/^\uFEFF/, ""))
            const records = Array.isArray(value) ? value : [value]
            const odd = records.findIndex(
              (item) => typeof item !== "object" || item === null || Array.isArray(item)
            )
            if (odd >= 0) throw new Error(`item ${odd + 1} is not an object`)
            return Stream.fromIterable(records as ReadonlyArray<ImportRecord>)
          },
          catch: (cause) =>
            new ValidationError({
              operation: "fromJson",
              message: `this is not a JSON list of objects: ${cause instanceof Error ? cause.message : cause}`,
              cause
            })
        })
      )
    )
  )
