import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import * as Ulid from "../../domain/identifiers/Ulid.js"
import { encode } from "../../domain/json/CanonicalJson.js"
import { maxEdits, type StagedEdit } from "../../store/browse/StagedEdits.js"
import { parseCell, parseCellKeepingSpelling } from "../../store/transfer/CsvCell.js"
import { fromCsv } from "../../store/transfer/FromCsv.js"
import { fromJson, fromNdjson } from "../../store/transfer/FromJson.js"
import { type DocumentRow, prepareRow } from "../../store/transfer/ImportRow.js"
import type { ImportRecord, RecordStream } from "../../store/transfer/RecordSource.js"
import { fromStoreError, type Problem } from "../components/Problem.js"

/** The records of a file, at most one more than the publish limit. */
export interface ImportFile {
  readonly name: string
  readonly records: ReadonlyArray<ImportRecord>
  /** Whether the values are CSV cells as written: an id may look like a number. */
  readonly areCells: boolean
  /** The field names in order of appearance. */
  readonly fields: ReadonlyArray<string>
}

/** A record that cannot be imported. */
export interface RefusedRow {
  readonly row: number
  readonly reason: string
}

const nextId = Effect.runSync(Ulid.generator)

/** Bytes in which the first line of a CSV file is searched. */
const head = 65_536

/** The most frequent separator of the first line, outside of quoted cells. */
const delimiterOf = (bytes: Uint8Array): string => {
  const [line = ""] = new TextDecoder()
    .decode(bytes.subarray(0, head))
    .replace(/^[\r\n]+/, "")
    .replace(/(^|[,;\t\r\n])"(?:[^"]|"")*"/g, "$1")
    .split(/[\r\n]/, 1)
  const counts = [",", ";", "\t"].map((one) => [line.split(one).length, one] as const)
  return counts.reduce((most, one) => (one[0] > most[0] ? one : most))[1]
}

const streamOf = (name: string, bytes: Uint8Array): RecordStream => {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  if (ending === "ndjson" || ending === "jsonl") return fromNdjson(bytes)
  if (ending === "json") return fromJson(bytes)
  return fromCsv(bytes, { delimiter: delimiterOf(bytes) })
}

const unreadable = (cause: unknown) =>
  new ValidationError({
    operation: "import",
    message: `the file could not be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "choose it again"
  })

/** Reads a file by its extension: JSON, NDJSON, or CSV. */
export const readFile = (file: Pick<File, "name" | "arrayBuffer">): Effect.Effect<ImportFile, Problem> =>
  Effect.tryPromise({ try: () => file.arrayBuffer(), catch: unreadable }).pipe(
    Effect.flatMap((buffer) =>
      Stream.runCollect(Stream.take(streamOf(file.name, new Uint8Array(buffer)), maxEdits + 1))
    ),
    Effect.mapBoth({
      onFailure: fromStoreError,
      onSuccess: (found) => {
        const records = Chunk.toReadonlyArray(found)
        return {
          name: file.name,
          records,
          areCells: !/\.(ndjson|jsonl|json)$/i.test(file.name),
          fields: [...new Set(records.flatMap(Object.keys))]
        }
      }
    })
  )

/** Parses the cells of a CSV record as JSON, except the id's. */
const ofCells = (record: ImportRecord, idField: string): ImportRecord => {
  const read: Record<string, unknown> = Object.create(null)
  for (const [name, cell] of Object.entries(record)) {
    const value = (name === idField ? parseCellKeepingSpelling : parseCell)(String(cell))
    if (value !== undefined) read[name] = value
  }
  return read
}

/** The text of a row's draft: the content of its document's file. */
export const documentText = ({ document }: DocumentRow): string =>
  new TextDecoder().decode(Either.getOrThrow(encode(document)))

/** A stamp of maximum length, to compute the size of an edit before it is saved. */
export const placeholderStamp = "0".repeat(43)

const encoder = new TextEncoder()

/** The bytes of an edit in a publish request. */
export const editSize = (edit: StagedEdit): number => encoder.encode(JSON.stringify(edit)).length + 1

/** Converts records to documents. The id comes from `idField`, or is generated if that is empty. */
export const importRows = (
  { areCells, records }: ImportFile,
  idField: string
): { readonly rows: ReadonlyArray<DocumentRow>; readonly refused: ReadonlyArray<RefusedRow> } => {
  const importId = Effect.runSync(nextId)
  const rows = new Map<string, DocumentRow>()
  const refused: Array<RefusedRow> = []
  records.forEach((found, at) => {
    const record = areCells ? ofCells(found, idField) : found
    const prepared = prepareRow(record, at + 1, idField, importId, Option.none)
    if (Either.isLeft(prepared)) refused.push({ row: at + 1, reason: prepared.left.reason ?? "refused" })
    else {
      const before = rows.get(prepared.right.id)
      if (before === undefined) rows.set(prepared.right.id, prepared.right)
      else refused.push({ row: at + 1, reason: `row ${before.row} has the same id, ${prepared.right.id}` })
    }
  })
  return { rows: [...rows.values()], refused }
}
