import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { encodeInline } from "../../domain/CanonicalJson.js"
import type { JsonObject } from "../../domain/Document.js"
import { idProblem } from "../../domain/DocumentId.js"
import type { WriteError } from "../../domain/StoreError.js"
import { ValidationError } from "../../domain/StoreError.js"
import { generator } from "../../domain/Ulid.js"
import type { StoreCore } from "../internal/StoreCore.js"
import type { DocumentOperation, NextVersion, StoredVersion } from "../internal/WriteUnit.js"
import { goingOn, refusal } from "./GoingOn.js"
import { numbered } from "./ImportId.js"
import { normaliseRecord } from "./Normalise.js"
import { fromRecords, type ImportRecord, type RecordSource } from "./Records.js"
import type { SourceError } from "./SourceError.js"

/** What is done with one record. `row` counts from 1. */
export interface ImportRow {
  readonly row: number
  readonly id?: string | undefined
  readonly action: "insert" | "replace" | "unchanged" | "refuse"
  readonly reason?: string | undefined
}

/** How far an import is. */
export interface ImportReport {
  /** Names this import: given again with the same records, it goes on where it was. */
  readonly importId: string
  /** Records handled, duplicates counted. */
  readonly records: number
  readonly inserted: number
  readonly replaced: number
  /** Already stored as they are; not written again. */
  readonly unchanged: number
  /** In a dry run: records that an import would refuse. */
  readonly refused: number
  readonly commits: ReadonlyArray<string>
}

export interface ImportOptions {
  /** The field whose text becomes the document's id; records without one get a generated id. Default `_id`. */
  readonly idField?: string | undefined
  /** Records of one commit. Default 100. */
  readonly chunkSize?: number | undefined
  /** Says of every record what would be done, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** `first` checks every record before the first commit, which reads the records twice. Default `each`. */
  readonly validate?: "each" | "first" | undefined
  /** Goes on with an import that was interrupted. */
  readonly importId?: string | undefined
  readonly message?: string | undefined
  /** Called with the report so far after each chunk, and once at the start. */
  readonly onProgress?: ((report: ImportReport) => Effect.Effect<void>) | undefined
  /** Called for each record, after its chunk was committed; in a dry run, for what would be done. */
  readonly onRow?: ((row: ImportRow) => Effect.Effect<void>) | undefined
}

/** The collection that records go into. */
export interface ImportTarget {
  readonly core: StoreCore
  readonly collection: string
  /** The documents that exist now, by id; null where the file holds no document. */
  readonly stored: (
    ids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, JsonObject | null>, WriteError>
  /** What is wrong with a document of this collection, if anything. */
  readonly check: (document: JsonObject) => Option.Option<string>
}

interface Row {
  readonly row: number
  readonly id: string
  readonly document: JsonObject
}

type Prepared = Either.Either<Row, ImportRow>

const operation = "Collection.importRecords"

/**
 * Imports records, each as a whole document, one commit per chunk in constant memory. An existing document is
 * replaced, its revision rising by one, unless it already is as the record says. A record that cannot be stored fails
 * the import with its row before its chunk is written. Whatever fails, the chunks before it are kept, and the error
 * names the `importId` with which the import goes on, without doubling anything.
 */
export const importRecords = <E = never, R = never>(
  target: ImportTarget,
  source: RecordSource<E, R>,
  options: ImportOptions = {}
): Effect.Effect<ImportReport, E | WriteError | SourceError, R> =>
  Effect.gen(function* () {
    const importId = options.importId ?? (yield* Effect.flatten(generator))
    yield* problemOf(importId, source, options)
    const rows = (): Stream.Stream<Prepared, E | SourceError | ValidationError, R> =>
      Stream.mapAccum(fromRecords(source), 0, (row, record) => [
        row + 1,
        prepare(record, row + 1, options.idField ?? "_id", importId, target.check)
      ])
    if (options.validate === "first" && options.dryRun !== true) {
      yield* Stream.runForEach(
        rows(),
        Either.match({ onLeft: (bad) => refusal(bad, importId, 0), onRight: () => Effect.void })
      )
    }
    const writeChunk = options.dryRun === true ? lookAtChunk(target) : commitChunk(target, options.message)
    let report: ImportReport = {
      importId,
      records: 0,
      inserted: 0,
      replaced: 0,
      unchanged: 0,
      refused: 0,
      commits: []
    }
    const tell = () => options.onProgress?.(report) ?? Effect.void
    const told = <F>(error: F) => (options.dryRun === true ? error : goingOn(error, importId, report.records))
    yield* tell()
    const read = Stream.mapError(rows(), told)
    yield* Stream.runForEach(Stream.grouped(read, options.chunkSize ?? 100), (chunk) =>
      Effect.gen(function* () {
        const done = yield* Effect.mapError(writeChunk(Chunk.toReadonlyArray(chunk), report), told)
        report = {
          ...report,
          records: report.records + done.rows.length,
          inserted: report.inserted + counted(done.rows, "insert"),
          replaced: report.replaced + counted(done.rows, "replace"),
          unchanged: report.unchanged + counted(done.rows, "unchanged"),
          refused: report.refused + counted(done.rows, "refuse"),
          commits: Option.match(done.commit, {
            onNone: () => report.commits,
            onSome: (sha) => [...report.commits, sha]
          })
        }
        if (options.onRow !== undefined) yield* Effect.forEach(done.rows, options.onRow, { discard: true })
        yield* tell()
      })
    )
    return report
  })

const counted = (rows: ReadonlyArray<ImportRow>, action: ImportRow["action"]) =>
  rows.reduce((count, row) => count + (row.action === action ? 1 : 0), 0)

const problemOf = <E, R>(importId: string, source: RecordSource<E, R>, options: ImportOptions) => {
  const invalid = (message: string, hint?: string) => new ValidationError({ operation, message, hint })
  const { chunkSize = 100 } = options
  if (!Number.isInteger(chunkSize) || chunkSize < 1) {
    return Effect.fail(invalid(`chunkSize must be a whole number of at least 1, it is ${chunkSize}`))
  }
  if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(importId)) {
    return Effect.fail(
      invalid(
        `${importId} is not an importId`,
        "take it from the report or the error of the import to go on with"
      )
    )
  }
  if (options.validate === "first" && isSpent(source)) {
    return Effect.fail(
      invalid(
        'these records can be read only once, and validate: "first" reads them twice',
        "pass a list, a stream, or something that can be iterated again"
      )
    )
  }
  return Effect.void
}

/** An iterator that is its own iterable gives its records once. */
const isSpent = <E, R>(source: RecordSource<E, R>) => {
  if (Stream.StreamTypeId in source) return false
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]() === (source as unknown)
  return source[Symbol.iterator]() === (source as unknown)
}

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

const prepare = (
  record: ImportRecord,
  row: number,
  idField: string,
  importId: string,
  check: ImportTarget["check"]
): Prepared => {
  const refused = (reason: string, id?: string) =>
    Either.left<ImportRow>({ row, id, action: "refuse", reason })
  const normalised = Either.try({ try: () => normaliseRecord(record), catch: (error) => error as Error })
  if (Either.isLeft(normalised)) return refused(normalised.left.message)
  const given = Object.hasOwn(normalised.right, idField) ? normalised.right[idField] : null
  const text = (
    given === null || given === undefined
      ? ""
      : typeof given === "object"
        ? JSON.stringify(given)
        : String(given)
  ).trim()
  const id = text === "" ? numbered(importId, row) : text
  const wrong = idProblem(id)
  if (wrong !== undefined) return refused(`${idField}: ${wrong}`, id)
  const document: Record<string, JsonObject[string]> = Object.create(null)
  for (const [key, value] of Object.entries(normalised.right)) if (!metadata.has(key)) document[key] = value
  const encoded = encodeInline(document)
  if (Either.isLeft(encoded)) return refused(`${encoded.left.path}: ${encoded.left.message}`, id)
  return Option.match(check(document), {
    onNone: () => Either.right({ row, id, document }),
    onSome: (reason) => refused(reason, id)
  })
}

interface Done {
  readonly rows: ReadonlyArray<ImportRow>
  readonly commit: Option.Option<string>
}

const commitChunk =
  ({ collection, core }: ImportTarget, message: string | undefined) =>
  (chunk: ReadonlyArray<Prepared>, report: ImportReport): Effect.Effect<Done, WriteError> =>
    Effect.gen(function* () {
      const rows: Array<Row> = []
      for (const one of chunk) {
        if (Either.isLeft(one)) return yield* refusal(one.left, report.importId, report.records)
        rows.push(one.right)
      }
      const last = new Map(rows.map((row) => [row.id, row]))
      const outcome = yield* core.write({
        operation,
        mode: "batch",
        message: message ?? `import ${rows.length} records into ${collection}`,
        operations: [...last.values()].map((row) => put(collection, row))
      })
      const before = new Map(outcome.documents.map((document) => [document.id, document]))
      return {
        commit: Option.map(outcome.committed, ({ commit }) => commit),
        rows: rows.map((row) => {
          const found = before.get(row.id)!
          const action = last.get(row.id) !== row ? "replace" : actionOn(found.before, row.document)
          return { row: row.row, id: row.id, action }
        })
      }
    })

const put = (collection: string, row: Row): DocumentOperation => ({
  collection,
  id: row.id,
  needs: "any",
  next: (stored) =>
    Effect.succeed<NextVersion>({
      document: Option.some(row.document),
      unchanged: actionOn(stored, row.document) === "unchanged"
    })
})

const actionOf = (
  exists: boolean,
  stored: Option.Option<JsonObject>,
  given: JsonObject
): Exclude<ImportRow["action"], "refuse"> => {
  if (!exists) return "insert"
  return Option.exists(stored, (document) => sameContent(document, given)) ? "unchanged" : "replace"
}

const actionOn = (stored: Option.Option<StoredVersion>, given: JsonObject) =>
  actionOf(
    Option.isSome(stored),
    Option.flatMap(stored, (version) => version.document),
    given
  )

const sameContent = (stored: JsonObject, given: JsonObject) => {
  const rest: Record<string, JsonObject[string]> = Object.create(null)
  for (const [key, value] of Object.entries(stored)) if (!metadata.has(key)) rest[key] = value
  const text = (document: JsonObject) => Either.getOrUndefined(encodeInline(document))
  return text(rest) === text(given)
}

/** What a chunk would do: each record in order, as if those before it were stored. */
const lookAtChunk = ({ stored }: ImportTarget) => {
  const seen = new Set<string>()
  return (chunk: ReadonlyArray<Prepared>): Effect.Effect<Done, WriteError> =>
    Effect.gen(function* () {
      const fresh = chunk.flatMap((one) =>
        Either.isRight(one) && !seen.has(one.right.id) ? [one.right.id] : []
      )
      const present = yield* stored([...new Set(fresh)])
      const rows = chunk.map(
        Either.match({
          onLeft: (bad) => bad,
          onRight: ({ document, id, row }): ImportRow => {
            const before = seen.has(id) ? Option.none<JsonObject>() : Option.fromNullable(present.get(id))
            const action = seen.has(id) ? "replace" : actionOf(present.has(id), before, document)
            seen.add(id)
            return { row, id, action }
          }
        })
      )
      return { rows, commit: Option.none() }
    })
}
