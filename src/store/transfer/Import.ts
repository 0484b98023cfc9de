import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { rechunk } from "../../domain/concurrency/Streams.js"
import {
  ConflictError,
  isUniqueViolation,
  type ReadError,
  ValidationError,
  type WriteError
} from "../../domain/errors/StoreError.js"
import { generator } from "../../domain/identifiers/Ulid.js"
import { describeViolation, maxViolationsInMessage } from "../../domain/indexes/UniqueViolation.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { DocumentOperation } from "../internal/commit/DocumentEdit.js"
import type { NextVersion } from "../internal/commit/NextVersion.js"
import type { StoreCore } from "../internal/commit/StoreCore.js"
import { givenVersion } from "../internal/commit/VersionCodec.js"
import { defaultIdField, requireIdField } from "./IdField.js"
import { rowError, withResumeHint } from "./ImportErrors.js"
import {
  contentOf,
  type DocumentRow,
  type ImportRow,
  type PreparedRow,
  prepareRow,
  rowActions
} from "./ImportRow.js"
import { elements, type RecordSource, sourceProblem } from "./RecordSource.js"
import type { SourceError } from "./SourceError.js"

export type { ImportRow } from "./ImportRow.js"

/**
 * The counts of an import, or of the part of it that is done.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImportReport {
  /** Identifies this import. An import with this id and the same records resumes it. */
  readonly importId: string
  /** Records that were processed, including duplicates. */
  readonly records: number
  /** Documents that did not exist before. */
  readonly inserted: number
  /** Documents that existed with other content. */
  readonly replaced: number
  /** Documents that were stored already with the same content. They are not written again. */
  readonly unchanged: number
  /** In a dry run: records that an import would reject. */
  readonly refused: number
  /** The commits that the import made, oldest first. */
  readonly commits: ReadonlyArray<string>
}

/**
 * Options of `importRecords`.
 *
 * @since 0.1.0
 * @category options
 */
export interface ImportOptions {
  /**
   * The field that contains the document's id. Records without it get a generated id. If another field is given and none of the
   * first 100 records has it, the import fails. Default `_id`.
   */
  readonly idField?: string | undefined
  /** The number of records of one commit. Default 100. */
  readonly chunkSize?: number | undefined
  /** Reports the action for every record to `onRow`, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** `first` validates every record before the first commit, and reads the records twice. Default `each`. */
  readonly validate?: "each" | "first" | undefined
  /** The `importId` of an interrupted import, to resume it. */
  readonly importId?: string | undefined
  /** The message of each commit. Default: `import N records into C`. */
  readonly message?: string | undefined
  /** Called with the current report at the start and after each chunk. */
  readonly onProgress?: ((report: ImportReport) => Effect.Effect<void>) | undefined
  /** Called for each record after its chunk was committed; in a dry run, with the action that would be taken. */
  readonly onRow?: ((row: ImportRow) => Effect.Effect<void>) | undefined
}

/** The collection that an import writes. */
export interface ImportTarget {
  readonly core: StoreCore
  readonly collection: string
  /** The documents that exist now, by id; null if the file contains no readable document. */
  readonly stored: (
    ids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyMap<string, JsonObject | null>, WriteError>
  /**
   * Checks rows against the unique indexes, chunk by chunk; `before` are the stored documents of ids that no earlier chunk has.
   * Returns why rows would be rejected, by id.
   */
  readonly uniqueness: Effect.Effect<
    (
      rows: ReadonlyArray<DocumentRow>,
      before: (id: string) => JsonObject | undefined
    ) => Effect.Effect<ReadonlyMap<string, string>, ReadError>,
    ReadError
  >
  /** The problem of a document that does not fit the schema of this collection. */
  readonly check: (document: JsonObject) => Option.Option<string>
}

const operation = "Collection.importRecords"

/**
 * Imports records as documents, with one commit per chunk, in constant memory. An existing document is replaced, and its
 * revision rises by one, unless its content equals the record's. A record that cannot be stored fails the import before
 * its chunk is written. On any failure the earlier chunks stay committed, and the error names the `importId` that
 * resumes the import without storing a record twice.
 */
export const importRecords = <E = never, R = never>(
  target: ImportTarget,
  source: RecordSource<E, R>,
  options: ImportOptions = {}
): Effect.Effect<ImportReport, E | WriteError | SourceError, R> =>
  Effect.gen(function* () {
    const importId = options.importId ?? (yield* Effect.flatten(generator))
    yield* checkArguments(importId, source, options)
    const idField = options.idField ?? defaultIdField
    const rows = (): Stream.Stream<PreparedRow, E | SourceError | ValidationError, R> =>
      Stream.mapAccum(requireIdField(elements(source), idField), 0, (row, record) => [
        row + 1,
        prepareRow(record, row + 1, idField, importId, target.check)
      ])
    let checked = 0
    if (options.validate === "first" && options.dryRun !== true) {
      yield* Stream.runForEach(
        rows(),
        Either.match({
          onLeft: (bad) => rowError(bad, importId, 0),
          onRight: () =>
            Effect.sync(() => {
              checked++
            })
        })
      )
    }
    let report: ImportReport = {
      importId,
      records: 0,
      inserted: 0,
      replaced: 0,
      unchanged: 0,
      refused: 0,
      commits: []
    }
    const notify = () => options.onProgress?.(report) ?? Effect.void
    const failure = <F>(error: F) =>
      options.dryRun === true ? error : withResumeHint(error, importId, report.records)
    const writeChunk =
      options.dryRun === true ? previewChunk(target) : commitChunk(target, options.message, failure)
    yield* notify()
    // Outside of `rechunk`: it passes on the records before a failure, and only then the failure.
    const chunks = Stream.mapError(rechunk(rows(), options.chunkSize ?? 100), failure)
    yield* Stream.runForEachChunk(chunks, (chunk) =>
      Effect.gen(function* () {
        const done = yield* writeChunk(Chunk.toReadonlyArray(chunk), report)
        report = {
          ...report,
          records: report.records + done.rows.length,
          inserted: report.inserted + countAction(done.rows, "insert"),
          replaced: report.replaced + countAction(done.rows, "replace"),
          unchanged: report.unchanged + countAction(done.rows, "unchanged"),
          refused: report.refused + countAction(done.rows, "refuse"),
          commits: Option.match(done.commit, {
            onNone: () => report.commits,
            onSome: (sha) => [...report.commits, sha]
          })
        }
        if (options.onRow !== undefined) yield* Effect.forEach(done.rows, options.onRow, { discard: true })
        yield* notify()
      })
    )
    if (options.validate === "first" && options.dryRun !== true && report.records !== checked) {
      return yield* report.records === 0
        ? singleUseError()
        : failure(recordCountChanged(checked, report.records))
    }
    return report
  })

const countAction = (rows: ReadonlyArray<ImportRow>, action: ImportRow["action"]) =>
  rows.reduce((count, row) => count + (row.action === action ? 1 : 0), 0)

const checkArguments = <E, R>(importId: string, source: RecordSource<E, R>, options: ImportOptions) => {
  const invalid = (message: string, hint?: string) => new ValidationError({ operation, message, hint })
  if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(importId)) {
    return Effect.fail(
      invalid(
        `${importId} is not an importId`,
        "take it from the report or the error of the import to resume"
      )
    )
  }
  const problem = sourceProblem(source)
  if (problem !== undefined) return Effect.fail(problem)
  return options.validate === "first" && isSingleUse(source) ? Effect.fail(singleUseError()) : Effect.void
}

const singleUseError = () =>
  new ValidationError({
    operation,
    message: 'these records can be read only once, and validate: "first" reads them twice',
    hint: "pass a list, a stream that starts again, or a file that can be opened again"
  })

const recordCountChanged = (checked: number, imported: number) =>
  new ValidationError({
    operation,
    message: `the source had ${checked} records when they were validated and ${imported} when they were imported`
  })

/** Whether the source is an iterator, which can be read only once. */
const isSingleUse = <E, R>(source: RecordSource<E, R>) => {
  if (Stream.StreamTypeId in source) return false
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]() === (source as unknown)
  return source[Symbol.iterator]() === (source as unknown)
}

interface ChunkResult {
  readonly rows: ReadonlyArray<ImportRow>
  readonly commit: Option.Option<string>
}

const commitChunk =
  (
    { collection, core }: ImportTarget,
    message: string | undefined,
    failure: (error: WriteError) => WriteError
  ) =>
  (chunk: ReadonlyArray<PreparedRow>, report: ImportReport): Effect.Effect<ChunkResult, WriteError> =>
    Effect.gen(function* () {
      const rows: Array<DocumentRow> = []
      for (const one of chunk) {
        if (Either.isLeft(one)) return yield* rowError(one.left, report.importId, report.records)
        rows.push(one.right)
      }
      const last = new Map(rows.map((row) => [row.id, row]))
      const outcome = yield* core
        .write({
          operation,
          mode: "batch",
          message: message ?? `import ${rows.length} records into ${collection}`,
          operations: [...last.values()].map((row) => putOperation(collection, row))
        })
        .pipe(
          Effect.mapError((error) => failure(isUniqueViolation(error) ? withRowNumbers(error, last) : error))
        )
      const before = new Map(outcome.documents.map((document) => [document.id, document]))
      return {
        commit: Option.map(outcome.committed, ({ commit }) => commit),
        rows: rowActions(rows, new Map(), identity, (id) => {
          const stored = before.get(id)!.before
          return Option.isNone(stored) ? undefined : Option.flatMap(stored, (version) => version.document)
        })
      }
    })

/** Adds the row numbers to the error of a violated unique index. */
const withRowNumbers = (error: ConflictError, rows: ReadonlyMap<string, DocumentRow>): ConflictError => {
  const named = (error.violations ?? []).map(
    (violation) => `row ${rows.get(violation.id)?.row} cannot be imported: ${describeViolation(violation)}`
  )
  const message =
    named.length <= maxViolationsInMessage ? named : [...named.slice(0, maxViolationsInMessage), "and others"]
  return new ConflictError({ ...error, hint: undefined, message: message.join("; ") })
}

const putOperation = (collection: string, row: DocumentRow): DocumentOperation => ({
  collection,
  id: row.id,
  needs: "any",
  next: (stored) =>
    Effect.succeed<NextVersion>({
      ...givenVersion(row.document),
      unchanged: Option.exists(
        Option.flatMap(stored, (version) => version.document),
        (document) => contentOf(document) === row.content
      )
    })
})

/** Reports the actions for a chunk as if the earlier chunks were written. */
const previewChunk = ({ stored, uniqueness }: ImportTarget) => {
  let unique: Effect.Effect.Success<typeof uniqueness> | undefined
  const digests = new Map<string, string | undefined>()
  // Short, because one is kept in memory for each id of the import.
  const digestOf = (content: string) => `${Hash.string(content)} ${content.length}`
  return (chunk: ReadonlyArray<PreparedRow>): Effect.Effect<ChunkResult, WriteError> =>
    Effect.gen(function* () {
      const rows = chunk.filter(Either.isRight).map(({ right }) => right)
      const fresh = new Set(rows.flatMap(({ id }) => (digests.has(id) ? [] : [id])))
      const present = yield* stored([...fresh])
      const actions = rowActions(rows, digests, digestOf, (id) =>
        present.has(id) ? Option.fromNullable(present.get(id)) : undefined
      )
      unique ??= yield* uniqueness
      const last = new Map(rows.map((row) => [row.id, row]))
      const refused = yield* unique([...last.values()], (id) => present.get(id) ?? undefined)
      let next = 0
      return {
        rows: chunk.map(
          Either.match({
            onLeft: (bad) => bad,
            onRight: ({ id }): ImportRow => {
              const action = actions[next++]!
              const reason = refused.get(id)
              return reason === undefined ? action : { ...action, action: "refuse", reason }
            }
          })
        ),
        commit: Option.none()
      }
    })
}
