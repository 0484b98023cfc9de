import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { cellText } from "./CellText.js"

export interface CsvEncodingOptions {
  readonly columns: ReadonlyArray<string>
  /** Default: comma. */
  readonly delimiter?: string | undefined
  /**
   * Puts an apostrophe before text that a spreadsheet would read as a formula. Off by default, because it changes the
   * text.
   */
  readonly guardFormulas?: boolean | undefined
}

const encoder = new TextEncoder()

/**
 * CSV (RFC 4180) in UTF-8: a header, then one row per document. Cells of null and of missing fields are empty. Lists
 * and objects are JSON text.
 */
export const encodeCsv = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>,
  encoding: CsvEncodingOptions
): Stream.Stream<Uint8Array, E, R> => {
  const delimiter = encoding.delimiter ?? ","
  const cell = (value: Json | undefined) => {
    const text = cellText(value)
    const safe = encoding.guardFormulas === true && typeof value === "string" ? escapeFormula(text) : text
    return quoteCell(safe, delimiter)
  }
  // A row of one empty cell would be a blank line, and readers skip blank lines.
  const line = (cells: ReadonlyArray<string>) =>
    cells.length === 1 && cells[0] === "" ? '""\r\n' : `${cells.join(delimiter)}\r\n`
  const header = (column: string) =>
    quoteCell(encoding.guardFormulas === true ? escapeFormula(column) : column, delimiter)
  const row = (document: JsonObject) =>
    line(
      encoding.columns.map((column) => cell(Object.hasOwn(document, column) ? document[column] : undefined))
    )
  return Stream.concat(
    Stream.sync(() => encoder.encode(line(encoding.columns.map(header)))),
    Stream.mapChunks(documents, (chunk) =>
      Chunk.of(encoder.encode(Chunk.toReadonlyArray(chunk).map(row).join("")))
    )
  )
}

const quoteCell = (text: string, delimiter: string) =>
  /["\r\n]/.test(text) || text.includes(delimiter) || /^\s|\s$|^\uFEFF/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text

/** Puts an apostrophe before text that a spreadsheet would read as a formula. */
const escapeFormula = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** Whether a value contains -0, which `JSON.stringify` writes as 0. */
const containsNegativeZero = (value: Json): boolean => {
  if (typeof value === "number") return Object.is(value, -0)
  if (typeof value !== "object" || value === null) return false
  for (const member of Object.values(value)) if (containsNegativeZero(member)) return true
  return false
}

const lineOf = (document: JsonObject): string =>
  containsNegativeZero(document) ? Either.getOrThrow(encodeInline(document)) : JSON.stringify(document)

/** NDJSON in UTF-8: one JSON object per line. */
export const encodeNdjson = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.mapChunks(documents, (chunk) =>
    Chunk.of(
      encoder.encode(
        Chunk.toReadonlyArray(chunk)
          .map((document) => `${lineOf(document)}\n`)
          .join("")
      )
    )
  )

/** A JSON array of objects in UTF-8, with one element per line. */
export const encodeJson = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.suspend(() => {
    let separator = "[\n"
    const elements = Stream.mapChunks(documents, (chunk) =>
      Chunk.of(
        encoder.encode(
          Chunk.toReadonlyArray(chunk)
            .map((document) => {
              const text = separator + lineOf(document)
              separator = ",\n"
              return text
            })
            .join("")
        )
      )
    )
    return Stream.concat(
      elements,
      Stream.unwrap(Effect.sync(() => Stream.succeed(encoder.encode(separator === "[\n" ? "[]\n" : "\n]\n"))))
    )
  })
