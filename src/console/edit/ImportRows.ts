import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/StoreError.js"
import * as Ulid from "../../domain/Ulid.js"
import { maxEdits } from "../../store/browse/StagedEdits.js"
import { fromCsv } from "../../store/transfer/FromCsv.js"
import { fromJson, fromNdjson } from "../../store/transfer/FromJson.js"
import { prepare, type Row } from "../../store/transfer/ImportRow.js"
import type { ImportRecord, RecordStream } from "../../store/transfer/Records.js"
import { fromStore, type Problem } from "../Problem.js"

/** The records of a file: at most one more than can be edited together. */
export interface ImportFile {
  readonly name: string
  readonly records: ReadonlyArray<ImportRecord>
  /** The names of their fields, in the order in which they appear. */
  readonly fields: ReadonlyArray<string>
}

/** A record that becomes no draft. */
export interface RefusedRow {
  readonly row: number
  readonly reason: string
}

const nextId = Effect.runSync(Ulid.generator)

/** The separator that the first line has most of. */
const delimiterOf = (text: string): string => {
  const [line = ""] = text.split("\n", 1)
  const counts = [",", ";", "\t"].map((one) => [line.split(one).length, one] as const)
  return counts.reduce((most, one) => (one[0] > most[0] ? one : most))[1]
}

const streamOf = (name: string, text: string): RecordStream => {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase()
  if (ending === "ndjson" || ending === "jsonl") return fromNdjson(text)
  if (ending === "json") return fromJson(text)
  return fromCsv(text, { cells: "json", delimiter: delimiterOf(text) })
}

const unreadable = (cause: unknown) =>
  new ValidationError({
    operation: "import",
    message: `the file could not be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "choose it again"
  })

/** Reads a file by its ending: JSON, NDJSON, or CSV. */
export const readFile = (file: Pick<File, "name" | "text">): Effect.Effect<ImportFile, Problem> =>
  Stream.fromEffect(Effect.tryPromise({ try: () => file.text(), catch: unreadable })).pipe(
    Stream.flatMap((text) => streamOf(file.name, text)),
    Stream.take(maxEdits + 1),
    Stream.runCollect,
    Effect.mapBoth({
      onFailure: fromStore,
      onSuccess: (found) => {
        const records = Chunk.toReadonlyArray(found)
        return { name: file.name, records, fields: [...new Set(records.flatMap(Object.keys))] }
      }
    })
  )

/** The documents of a file's records, whose ids are in a field, or are generated where that is empty. */
export const rowsOf = (
  { records }: ImportFile,
  idField: string
): { readonly rows: ReadonlyArray<Row>; readonly refused: ReadonlyArray<RefusedRow> } => {
  const importId = Effect.runSync(nextId)
  const rows = new Map<string, Row>()
  const refused: Array<RefusedRow> = []
  records.forEach((record, at) => {
    const prepared = prepare(record, at + 1, idField, importId, Option.none)
    if (Either.isLeft(prepared)) refused.push({ row: at + 1, reason: prepared.left.reason ?? "refused" })
    else {
      const before = rows.get(prepared.right.id)
      if (before === undefined) rows.set(prepared.right.id, prepared.right)
      else refused.push({ row: at + 1, reason: `${prepared.right.id} is the id of row ${before.row} too` })
    }
  })
  return { rows: [...rows.values()], refused }
}
