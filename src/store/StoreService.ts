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
 * The result of a revert.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reverted {
  /** The commit that reverts the other one. */
  readonly commitSha: string
  /** The documents that it restored. */
  readonly documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>
  /** Files of the reverted commit that are not documents, which were not changed. */
  readonly skipped: ReadonlyArray<string>
}

/**
 * Options of `store.reindex`.
 *
 * @since 0.1.0
 * @category options
 */
export interface StoreReindexOptions extends ReindexOptions {
  /** `1`, one file for each index and manifest; `2`, a tree of small files for each. Default: unchanged. */
  readonly format?: DerivedFormat | undefined
}

/**
 * JSON documents in a Git repository; every write is a commit. Read-committed at the branch's head, atomic per commit.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoreService extends Omit<StoreView, "collection">, Proposals {
  /** `owner/name`; for a repository in memory, its own name. */
  readonly repository: string
  /** The branch for reads and writes. */
  readonly branch: string
  /** The directory of the collections. */
  readonly root: string
  /** Whether index and manifest files are used that do not record the version that they describe. */
  readonly trustForeignIndexes: boolean
  /**
   * Opens a collection by name, by name and schema, or by its definition. Makes no request; an invalid name fails the
   * operations with `ValidationError`.
   */
  readonly collection: Collections
  /** Runs a body that queues operations, and commits them in one commit. If the body fails, nothing is written. */
  readonly batch: RunBatch
  /**
   * Runs a body that queues operations, which are committed after a number of operations or seconds, and at the end.
   */
  readonly writer: RunWriter
  /** Runs a body on a work branch, whose commits are published together. If the body fails, none is published. */
  readonly transaction: RunTransaction
  /** Runs an effect as one transaction, which all operations on this branch join. */
  readonly withTransaction: WithTransaction
  /** Work branches that remain after a crash or a conflict. */
  readonly staleTransactions: Effect.Effect<
    ReadonlyArray<{ readonly branch: string; readonly commitSha: string; readonly startedAt: Date }>,
    ReadError
  >
  /**
   * Deletes a work branch of `staleTransactions`. Fails with `ValidationError` on any other branch, and on the branch
   * of a running transaction of this process.
   */
  readonly removeTransaction: (branch: string) => Effect.Effect<void, WriteError>
  /** A view of the branch's current head, for repeated reads. */
  readonly snapshot: Effect.Effect<StoreView, ReadError>
  /**
   * A view of a commit, a tag, or the current head of a branch. Fails with `NotFoundError` if it does not exist.
   *
   * @example
   * ```ts
   * const before = yield* store.at("v1")
   * const tea = yield* before.collection("stock").get("tea")
   * ```
   */
  readonly at: (ref: string) => Effect.Effect<StoreView, ReadError>
  /** The same repository and options on another branch. Makes no request. */
  readonly onBranch: (branch: string) => StoreService
  /** The commit of a branch, a tag, or a full or short commit id; none if it does not exist. */
  readonly resolveRef: (ref: string) => Effect.Effect<Option.Option<string>, ReadError>
  /**
   * Reverts the documents of one commit by a new commit. A document that has changed since is a `ConflictError`, unless
   * `force` is set.
   */
  readonly revert: (
    commitSha: string,
    options?: WriteOptions & { readonly force?: boolean | undefined }
  ) => Effect.Effect<Reverted, WriteError>
  /** The branches of the repository, by name. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>, ReadError>
  /**
   * Creates a branch, and returns the commit at which it starts. An existing branch is a `ConflictError`. Refused in a
   * transaction.
   */
  readonly createBranch: (name: string, options?: CreateBranchOptions) => Effect.Effect<string, WriteError>
  /** Deletes a branch that is not the store's own. Succeeds if it does not exist. Refused in a transaction. */
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
   * Merges a branch, a tag or a commit into a branch, by one commit with both as its parents, or by a fast-forward if
   * the branch has no commits of its own. Documents that both changed are merged field by field; index and manifest
   * files are derived from the merged documents. Unresolved conflicts fail with a `ConflictError` that contains all of
   * them.
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
   * Rebuilds the indexes and manifests of all collections in the settings, in one commit; with `format` in that format,
   * which all clients adopt. Returns the commit; none if everything was correct.
   */
  readonly reindex: (options?: StoreReindexOptions) => Effect.Effect<Option.Option<string>, WriteError>
  /**
   * Runs a body up to its first commit, which is not made, and returns what it would contain: the documents, and the
   * index and manifest files; none if nothing would be written. If the body fails earlier, the preview fails.
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
  /** Removes a path, or everything, from the caches: the next read asks the remote. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
  /** The current rate budgets, without using a request; empty if there are none. */
  readonly rateLimit: Effect.Effect<ReadonlyArray<Budget>, ReadError>
  /** The number of requests of an operation; 0 for a local repository. */
  readonly estimate: (operation: Estimate) => number
  /** Examines access, settings and collections; each finding of a collection states what was checked. */
  readonly doctor: Effect.Effect<ReadonlyArray<Finding>, ReadError>
  /** `doctor` with options: reading every document, and reporting progress. */
  readonly doctorWith: (options: DoctorOptions) => Effect.Effect<ReadonlyArray<Finding>, ReadError>
}
