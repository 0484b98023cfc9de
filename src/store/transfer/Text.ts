import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { jsonText } from "./Columns.js"

export interface CsvEncoding {
  readonly columns: ReadonlyArray<string>
  /** Default: comma. */
  readonly delimiter?: string | undefined
  /**
   * Puts an apostrophe before text that a spreadsheet would take for a formula. Off by default, since the file is then
   * no longer what was stored.
   */
  readonly guardFormulas?: boolean | undefined
}

const encoder = new TextEncoder()

/** CSV (RFC 4180) in UTF-8: a header, then a row a document. Null and missing are empty, lists and objects JSON text. */
export const encodeCsv = <E, R>(
  documents: Stream.Stream<JsonObject, E, R>,
  encoding: CsvEncoding
): Stream.Stream<Uint8Array, E, R> => {
  const delimiter = encoding.delimiter ?? ","
  const cell = (value: Json | undefined) => {
    const text = cellText(value)
    const safe = encoding.guardFormulas === true && typeof value === "string" ? guarded(text) : text
    return quoted(safe, delimiter)
  }
  // An empty cell that is alone would be a blank line, which readers pass over.
  const line = (cells: ReadonlyArray<string>) =>
    cells.length === 1 && cells[0] === "" ? '""\r\n' : `${cells.join(delimiter)}\r\n`
  const header = (column: string) =>
    quoted(encoding.guardFormulas === true ? guarded(column) : column, delimiter)
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

/** The text of a value in a cell. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ""
  return typeof value === "string" ? value : jsonText(value)
}

const quoted = (text: string, delimiter: string) =>
  /["\r\n]/.test(text) || text.includes(delimiter) || /^\s|\s$|^\uFEFF/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text

/** Text that no spreadsheet reads as a formula. */
export const guarded = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)

/** Whether -0 is anywhere inside, which `JSON.stringify` writes as 0. */
const holdsMinusZero = (value: Json): boolean => {
  if (typeof value === "number") return Object.is(value, -0)
  if (typeof value !== "object" || value === null) return false
  for (const member of Object.values(value)) if (holdsMinusZero(member)) return true
  return false
}

const lineOf = (document: JsonObject): string =>
  holdsMinusZero(document) ? Either.getOrThrow(encodeInline(document)) : JSON.stringify(document)

/** One JSON object a line, in UTF-8. */
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

/** A JSON list of objects, in UTF-8, an element a line. */
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
