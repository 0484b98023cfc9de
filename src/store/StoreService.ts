import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { ReadError, WriteError } from "../domain/errors/StoreError.js"
import type { DerivedFormat } from "../domain/settings/Settings.js"
import type { RunBatch } from "./Batch.js"
import type {
  Branch,
  CompareOptions,
  CreateBranchOptions,
  DocumentDifference,
  Merged,
  MergeOptions
} from "./Branches.js"
import type { Collections, ReindexOptions, WriteOptions } from "./Collection.js"
import type { DoctorOptions, Finding } from "./Doctor.js"
import type { Proposals } from "./Proposals.js"
import type { Budget, Estimate, NewCommit } from "./remote/GitRemote.js"
import type { RunTransaction, WithTransaction } from "./Transaction.js"
import type { StoreView } from "./View.js"
import type { RunWriter } from "./Writer.js"

/**
 * What a revert did.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reverted {
  /** The commit that undoes the other one. */
  readonly commitSha: string
  /** The documents that it changed back. */
  readonly documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>
  /** Files of the reverted commit that are not documents, left as they are. */
  readonly skipped: ReadonlyArray<string>
}

/**
 * Options of `store.reindex`.
 *
 * @since 0.1.0
 * @category options
 */
export interface StoreReindexOptions extends ReindexOptions {
  /** `1`, one file for each index and manifest; `2`, a tree of small files for each. Default: as it is. */
  readonly format?: DerivedFormat | undefined
}

/**
 * JSON documents in a Git repository; every write is a commit. Read-committed at the branch's head, atomic per commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreService extends Omit<StoreView, "collection">, Proposals {
  /** `owner/name`; of a repository in memory, its own name. */
  readonly repository: string
  /** The branch that is read and written. */
  readonly branch: string
  /** The directory that collections lie in. */
  readonly root: string
  /** Whether index and manifest files are believed that do not name the version that they describe. */
  readonly trustForeignIndexes: boolean
  /**
   * Opens a collection by name, by name and schema, or by its definition. Takes no request; a wrong name fails the
   * operations with `ValidationError`.
   */
  readonly collection: Collections
  /** Runs a body that queues operations, and commits them in one commit; where the body fails, nothing is written. */
  readonly batch: RunBatch
  /** Runs a body that queues operations, committed every so many operations and seconds, and at the end. */
  readonly writer: RunWriter
  /** Runs a body on a work branch, whose commits reach the branch together; where the body fails, none does. */
  readonly transaction: RunTransaction
  /** Runs an effect whose operations, of every store of the branch, join one transaction. */
  readonly withTransaction: WithTransaction
  /** Work branches that a crash or a conflict left behind. */
  readonly staleTransactions: Effect.Effect<
    ReadonlyArray<{ readonly branch: string; readonly commitSha: string; readonly startedAt: Date }>,
    ReadError
  >
  /**
   * Deletes a work branch of `staleTransactions`. Fails with `ValidationError` on any other branch, and on one that this
   * process is running.
   */
  readonly removeTransaction: (branch: string) => Effect.Effect<void, WriteError>
  /** The store at the branch's head as it is now, to be read again and again. */
  readonly snapshot: Effect.Effect<StoreView, ReadError>
  /**
   * The store at a commit, a tag or a branch as it is now. Fails with `NotFoundError` where there is none.
   *
   * @example
   * ```ts
   * const before = yield* store.at("v1")
   * const tea = yield* before.collection("stock").get("tea")
   * ```
   */
  readonly at: (ref: string) => Effect.Effect<StoreView, ReadError>
  /** The same repository and options on another branch. Takes no request. */
  readonly onBranch: (branch: string) => StoreService
  /** The commit of a branch, a tag or a commit's id or its beginning; none where there is none. */
  readonly resolveRef: (ref: string) => Effect.Effect<Option.Option<string>, ReadError>
  /**
   * Undoes the documents of one commit by a new one. A document that has changed since is a `ConflictError`, unless
   * `force` is set.
   */
  readonly revert: (
    commitSha: string,
    options?: WriteOptions & { readonly force?: boolean | undefined }
  ) => Effect.Effect<Reverted, WriteError>
  /** The branches of the repository, by name. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>, ReadError>
  /** Makes a branch, and returns the commit that it begins at. One that exists is a `ConflictError`. */
  readonly createBranch: (name: string, options?: CreateBranchOptions) => Effect.Effect<string, WriteError>
  /** Deletes a branch that is not the store's own. Deleting what is gone is success. */
  readonly deleteBranch: (name: string) => Effect.Effect<void, WriteError>
  /**
   * The documents that differ between two branches, tags or commits, by collection and id.
   *
   * @example
   * ```ts
   * const changes = store.compare("main", "autumn").pipe(
   *   Stream.mapEffect(({ after, collection, id }) => Effect.map(after, (document) => ({ collection, id, document })))
   * )
   * ```
   */
  readonly compare: (
    a: string,
    b: string,
    options?: CompareOptions
  ) => Stream.Stream<DocumentDifference, ReadError>
  /**
   * Merges a branch, a tag or a commit into a branch, as one commit with both as its parents, or by moving the branch
   * where it has nothing of its own. Documents that both changed are merged by their fields; indexes and manifests are
   * made of the merged documents. Conflicts that nobody decides fail it with a `ConflictError` that has all of them.
   *
   * @example
   * ```ts
   * const { conflicts } = yield* store.merge("autumn", { dryRun: true })
   * const merged = yield* store.merge("autumn", {
   *   onConflict: ({ ours, theirs }) => (ours === undefined ? "theirs" : "ours")
   * })
   * ```
   */
  readonly merge: (from: string, options?: MergeOptions) => Effect.Effect<Merged, WriteError>
  /**
   * Makes the indexes and manifests of all collections that the settings name anew, in one commit, with a `format` in
   * that one from then on: every client adopts it. Answers the commit, none where everything was right.
   */
  readonly reindex: (options?: StoreReindexOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Runs a body up to its first commit, which is not made, and answers what it would hold: the documents, and the index
   * and manifest files; none when nothing would be written. A body that fails before fails the preview.
   *
   * @example
   * ```ts
   * const commit = yield* store.preview((trial) => trial.collection("stock").delete("tea"))
   * const paths = Option.map(commit, ({ changes }) => changes.map(({ path }) => path))
   * ```
   */
  readonly preview: <A, E, R>(
    body: (store: StoreService) => Effect.Effect<A, E, R>
  ) => Effect.Effect<Option.Option<NewCommit>, E | ReadError, R>
  /** Forgets what is cached of a path in the repository, or everything: the next read asks the remote. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
  /** The current rate budgets, without spending any; empty where there are none. */
  readonly rateLimit: Effect.Effect<ReadonlyArray<Budget>, ReadError>
  /** How many requests an operation will take of the remote; 0 on a repository of this machine. */
  readonly estimate: (operation: Estimate) => number
  /** Looks at access, settings and collections; each finding of a collection says what was checked. */
  readonly doctor: Effect.Effect<ReadonlyArray<Finding>, ReadError>
  /** As `doctor`, with options: reading every document, and following the progress. */
  readonly doctorWith: (options: DoctorOptions) => Effect.Effect<ReadonlyArray<Finding>, ReadError>
}
