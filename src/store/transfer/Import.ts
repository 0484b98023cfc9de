import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import * as Hash from "effect/Hash"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
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
import type { DocumentOperation, NextVersion } from "../internal/commit/DocumentEdit.js"
import type { StoreCore } from "../internal/commit/StoreCore.js"
import { contentOf, type ImportRow, judged, type Prepared, prepare, type Row } from "./ImportRow.js"
import { elements, type RecordSource, sourceProblem } from "./Records.js"
import { refusal, resumable } from "./Resume.js"
import type { SourceError } from "./SourceError.js"

export type { ImportRow } from "./ImportRow.js"

/**
 * How far an import is.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImportReport {
  /** Names this import: an import with this id and the same records resumes it. */
  readonly importId: string
  /** Records handled, duplicates counted. */
  readonly records: number
  /** Documents that were new. */
  readonly inserted: number
  /** Documents that were stored with another content. */
  readonly replaced: number
  /** Already stored as they are; not written again. */
  readonly unchanged: number
  /** In a dry run: records that an import would refuse. */
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
  /** The field whose text becomes the document's id; records without one get a generated id. Default `_id`. */
  readonly idField?: string | undefined
  /** Records of one commit. Default 100. */
  readonly chunkSize?: number | undefined
  /** Says of every record what would be done, and writes nothing. */
  readonly dryRun?: boolean | undefined
  /** `first` checks every record before the first commit, which reads the records twice. Default `each`. */
  readonly validate?: "each" | "first" | undefined
  /** Resumes an import that was interrupted. */
  readonly importId?: string | undefined
  /** The message of each commit. Default: `import N records into C`. */
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
  /** A judge of rows by the unique indexes, chunk by chunk: why rows would be refused, by id. */
  readonly uniqueness: Effect.Effect<
    (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyMap<string, string>, ReadError>,
    ReadError
  >
  /** What is wrong with a document of this collection, if anything. */
  readonly check: (document: JsonObject) => Option.Option<string>
}

const operation = "Collection.importRecords"

/**
 * Imports records, each as a whole document, one commit per chunk in constant memory. An existing document is
 * replaced, its revision rising by one, unless it already is as the record says. A record that cannot be stored fails
 * the import with its row before its chunk is written. Whatever fails, the chunks before it are kept, and the error
 * names the `importId` that resumes the import without storing anything twice.
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
      Stream.mapAccum(elements(source), 0, (row, record) => [
        row + 1,
        prepare(record, row + 1, options.idField ?? "_id", importId, target.check)
      ])
    let checked = 0
    if (options.validate === "first" && options.dryRun !== true) {
      yield* Stream.runForEach(
        rows(),
        Either.match({
          onLeft: (bad) => refusal(bad, importId, 0),
          onRight: () =>
            Effect.sync(() => {
              checked++
            })
        })
      )
    }
    const writeChunk = options.dryRun === true ? previewChunk(target) : commitChunk(target, options.message)
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
      options.dryRun === true ? error : resumable(error, importId, report.records)
    yield* notify()
    const read = Stream.mapError(rows(), failure)
    yield* Stream.runForEach(Stream.grouped(read, options.chunkSize ?? 100), (chunk) =>
      Effect.gen(function* () {
        const done = yield* Effect.mapError(writeChunk(Chunk.toReadonlyArray(chunk), report), failure)
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
        yield* notify()
      })
    )
    if (options.validate === "first" && options.dryRun !== true && report.records !== checked) {
      return yield* report.records === 0 ? readOnlyOnce() : failure(changedMeanwhile(checked, report.records))
    }
    return report
  })

const counted = (rows: ReadonlyArray<ImportRow>, action: ImportRow["action"]) =>
  rows.reduce((count, row) => count + (row.action === action ? 1 : 0), 0)

const problemOf = <E, R>(importId: string, source: RecordSource<E, R>, options: ImportOptions) => {
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
  return options.validate === "first" && isSpent(source) ? Effect.fail(readOnlyOnce()) : Effect.void
}

const readOnlyOnce = () =>
  new ValidationError({
    operation,
    message: 'these records can be read only once, and validate: "first" reads them twice',
    hint: "pass a list, a stream that starts anew, or a file that can be opened again"
  })

const changedMeanwhile = (checked: number, imported: number) =>
  new ValidationError({
    operation,
    message: `the records were ${checked} when they were checked and ${imported} when they were imported`
  })

/** An iterator that is its own iterable gives its records once. */
const isSpent = <E, R>(source: RecordSource<E, R>) => {
  if (Stream.StreamTypeId in source) return false
  if (Symbol.asyncIterator in source) return source[Symbol.asyncIterator]() === (source as unknown)
  return source[Symbol.iterator]() === (source as unknown)
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
      const outcome = yield* core
        .write({
          operation,
          mode: "batch",
          message: message ?? `import ${rows.length} records into ${collection}`,
          operations: [...last.values()].map((row) => put(collection, row))
        })
        .pipe(Effect.mapError((error) => (isUniqueViolation(error) ? namingRows(error, last) : error)))
      const before = new Map(outcome.documents.map((document) => [document.id, document]))
      return {
        commit: Option.map(outcome.committed, ({ commit }) => commit),
        rows: judged(rows, new Map(), identity, (id) => {
          const stored = before.get(id)!.before
          return Option.isNone(stored) ? undefined : Option.flatMap(stored, (version) => version.document)
        })
      }
    })

/** The error of records whose values other documents have, with their rows. */
const namingRows = (error: ConflictError, rows: ReadonlyMap<string, Row>): ConflictError => {
  const named = (error.violations ?? []).map(
    (violation) => `row ${rows.get(violation.id)?.row} cannot be imported: ${describeViolation(violation)}`
  )
  const message =
    named.length <= maxViolationsInMessage ? named : [...named.slice(0, maxViolationsInMessage), "and others"]
  return new ConflictError({ ...error, hint: undefined, message: message.join("; ") })
}

const put = (collection: string, row: Row): DocumentOperation => ({
  collection,
  id: row.id,
  needs: "any",
  next: (stored) =>
    Effect.succeed<NextVersion>({
      document: Option.some(row.document),
      unchanged: Option.exists(
        Option.flatMap(stored, (version) => version.document),
        (document) => contentOf(document) === row.content
      )
    })
})

/** What writing a chunk would do after the chunks before it. */
const previewChunk = ({ stored, uniqueness }: ImportTarget) => {
  let unique: Effect.Effect.Success<typeof uniqueness> | undefined
  const marks = new Map<string, string | undefined>()
  // Kept for each id of the import, so it is short.
  const mark = (content: string) => `${Hash.string(content)} ${content.length}`
  return (chunk: ReadonlyArray<Prepared>): Effect.Effect<Done, WriteError> =>
    Effect.gen(function* () {
      const rows = chunk.filter(Either.isRight).map(({ right }) => right)
      const fresh = new Set(rows.flatMap(({ id }) => (marks.has(id) ? [] : [id])))
      const present = yield* stored([...fresh])
      const actions = judged(rows, marks, mark, (id) =>
        present.has(id) ? Option.fromNullable(present.get(id)) : undefined
      )
      unique ??= yield* uniqueness
      const refused = yield* unique([...new Map(rows.map((row) => [row.id, row])).values()])
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
