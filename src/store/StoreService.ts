import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import type { JsonObject, StoredDocument } from "../domain/Document.js"
import type { ReadError, WriteError } from "../domain/StoreError.js"
import type { Collection, CollectionReader, WriteOptions } from "./Collection.js"
import type { Budget, Estimate, NewCommit } from "./remote/GitRemote.js"
import type { Destination } from "./transfer/Destination.js"
import type { DatabaseExcelOptions, Exported } from "./transfer/Export.js"

/** A document of a schema as a reader sees it: the decoded value with the store's metadata. */
export type Typed<A> = A & Pick<StoredDocument, "_id" | "_rev" | "_created_at" | "_updated_at">

/** A read-only look at one commit. */
export interface StoreView {
  /** The commit that every read of this view sees; the current head for the store itself. */
  readonly commitSha: Effect.Effect<Option.Option<string>, ReadError>
  readonly collections: Effect.Effect<ReadonlyArray<string>, ReadError>
  /** Writes a worksheet per collection, all from one commit, in constant memory; answers the columns of each. */
  readonly exportExcel: <D extends Destination<unknown, unknown>>(
    destination: D,
    options?: DatabaseExcelOptions
  ) => Exported<D, { readonly [collection: string]: ReadonlyArray<string> }>
  readonly collection: {
    (name: string): CollectionReader
    <A, I extends object>(name: string, schema: Schema.Schema<A, I>): CollectionReader<Typed<A>>
  }
}

export interface BatchOptions extends WriteOptions {}

/** Queued operations of one commit; the last operation on a document wins. */
export interface Batch {
  readonly put: (collection: string, id: string, document: JsonObject) => Effect.Effect<void, WriteError>
  readonly insert: (
    collection: string,
    document: JsonObject,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError>
  readonly delete: (collection: string, id: string) => Effect.Effect<void, WriteError>
  /** One expectation a document: a revision, a blob id, or that it is absent. */
  readonly expect: (
    collection: string,
    id: string,
    expectation: { readonly rev: number } | { readonly sha: string } | { readonly absent: true }
  ) => Effect.Effect<void, WriteError>
  /** Writes what is queued as one commit and empties the queue; its id, none when nothing was queued. */
  readonly commit: Effect.Effect<Option.Option<string>, WriteError>
  readonly discard: Effect.Effect<void>
  readonly operations: Effect.Effect<number>
  readonly expectations: Effect.Effect<number>
}

export interface WriterOptions extends WriteOptions {
  /** Flush at this many queued operations. Default 50. */
  readonly maxOperations?: number | undefined
  /** Flush this many seconds after the first queued operation. Default 5. */
  readonly maxSeconds?: number | undefined
}

/**
 * Collects writes and commits them together, in the order in which they were queued. `put` means queued, `flush`
 * means durable. A failed flush keeps the queue and names in `unwritten` what is not durable; when the timer's flush
 * failed, the next call fails with its error. An `AmbiguousWriteError` takes its operations out of the queue, so that
 * nothing is written twice.
 */
export interface Writer {
  readonly put: (collection: string, id: string, document: JsonObject) => Effect.Effect<void, WriteError>
  readonly insert: (
    collection: string,
    document: JsonObject,
    options?: { readonly id?: string | undefined }
  ) => Effect.Effect<string, WriteError>
  readonly delete: (collection: string, id: string) => Effect.Effect<void, WriteError>
  /** Commits everything that is queued; the last commit, none when nothing had to be written. */
  readonly flush: Effect.Effect<Option.Option<string>, WriteError>
  /** Drops what is queued and not being written right now, such as an operation that cannot succeed; answers how many. */
  readonly discard: Effect.Effect<number>
  /** Operations that are not yet durable. */
  readonly pending: Effect.Effect<number>
  /** Ids of the commits made so far. */
  readonly commits: Effect.Effect<ReadonlyArray<string>>
}

export interface TransactionOptions extends WriteOptions {
  /** Name of the work branch; generated when not given. */
  readonly branch?: string | undefined
}

/** Commits on a work branch that become visible together. */
export interface Transaction {
  readonly branch: string
  readonly collection: StoreService["collection"]
  readonly batch: StoreService["batch"]
}

/** What a revert did. */
export interface Reverted {
  readonly commitSha: string
  readonly documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>
  /** Files of the reverted commit that are not documents, left as they are. */
  readonly skipped: ReadonlyArray<string>
}

/** One finding of `doctor`. */
export interface Finding {
  readonly severity: "ok" | "warning" | "error"
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
  readonly collection?: string | undefined
  readonly ids?: ReadonlyArray<string> | undefined
}

/** How many documents of a collection the doctor has read. */
export interface DoctorProgress {
  readonly collection: string
  readonly documents: number
  readonly total: number
}

/** How closely the doctor looks. */
export interface DoctorOptions {
  /**
   * Reads every document, and compares indexes and manifests with a rebuild. Default: only where reads take no
   * requests.
   */
  readonly deep?: boolean | undefined
  readonly onProgress?: ((progress: DoctorProgress) => Effect.Effect<void>) | undefined
}

/** JSON documents in a Git repository; every write is a commit. Read-committed at the branch's head, atomic per commit. */
export interface StoreService extends StoreView {
  /** `owner/name`; of a repository in memory, its own name. */
  readonly repository: string
  readonly branch: string
  readonly root: string
  /** Whether index and manifest files are believed that do not name the version that they describe. */
  readonly trustForeignIndexes: boolean
  readonly collection: {
    (name: string): Collection
    <A, I extends object>(name: string, schema: Schema.Schema<A, I>): Collection<Typed<A>, A>
  }
  /** Runs the body and commits what it queued; a body that fails or is interrupted discards it. Answers the body's result and the last commit. */
  readonly batch: <A, E, R>(
    options: BatchOptions,
    body: (batch: Batch) => Effect.Effect<A, E, R>
  ) => Effect.Effect<{ readonly result: A; readonly commitSha: Option.Option<string> }, E | WriteError, R>
  readonly writer: <A, E, R>(
    options: WriterOptions,
    body: (writer: Writer) => Effect.Effect<A, E, R>
  ) => Effect.Effect<{ readonly result: A; readonly commits: ReadonlyArray<string> }, E | WriteError, R>
  readonly transaction: <A, E, R>(
    options: TransactionOptions,
    body: (transaction: Transaction) => Effect.Effect<A, E, R>
  ) => Effect.Effect<{ readonly result: A; readonly commitSha: Option.Option<string> }, E | WriteError, R>
  /** Work branches that a crash or a conflict left behind. */
  readonly staleTransactions: Effect.Effect<
    ReadonlyArray<{ readonly branch: string; readonly commitSha: string; readonly startedAt: Date }>,
    ReadError
  >
  readonly removeTransaction: (branch: string) => Effect.Effect<void, WriteError>
  readonly snapshot: Effect.Effect<StoreView, ReadError>
  readonly at: (ref: string) => Effect.Effect<StoreView, ReadError>
  readonly onBranch: (branch: string) => StoreService
  readonly resolveRef: (ref: string) => Effect.Effect<Option.Option<string>, ReadError>
  readonly revert: (
    commitSha: string,
    options?: WriteOptions & { readonly force?: boolean | undefined }
  ) => Effect.Effect<Reverted, WriteError>
  /**
   * Runs a body up to its first commit, which is not made, and answers what it would hold: the documents, and the index
   * and manifest files; none when nothing would be written. A body that fails before fails the preview.
   */
  readonly preview: <A, E, R>(
    body: (store: StoreService) => Effect.Effect<A, E, R>
  ) => Effect.Effect<Option.Option<NewCommit>, E | ReadError, R>
  readonly invalidate: (path?: string) => Effect.Effect<void>
  /** The current rate budgets, without spending any; empty where there are none. */
  readonly rateLimit: Effect.Effect<ReadonlyArray<Budget>, ReadError>
  readonly estimate: (operation: Estimate) => number
  /** Looks at access, settings and collections; each finding of a collection says what was checked. */
  readonly doctor: Effect.Effect<ReadonlyArray<Finding>, ReadError>
  readonly doctorWith: (options: DoctorOptions) => Effect.Effect<ReadonlyArray<Finding>, ReadError>
}
