import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { DerivedFormat } from "../domain/Settings.js"
import type { ReadError, WriteError } from "../domain/StoreError.js"
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

/** What a revert did. */
export interface Reverted {
  readonly commitSha: string
  readonly documents: ReadonlyArray<{ readonly collection: string; readonly id: string }>
  /** Files of the reverted commit that are not documents, left as they are. */
  readonly skipped: ReadonlyArray<string>
}

export interface StoreReindexOptions extends ReindexOptions {
  /** `1`, one file for each index and manifest; `2`, a tree of small files for each. Default: as it is. */
  readonly format?: DerivedFormat | undefined
}

/** JSON documents in a Git repository; every write is a commit. Read-committed at the branch's head, atomic per commit. */
export interface StoreService extends Omit<StoreView, "collection">, Proposals {
  /** `owner/name`; of a repository in memory, its own name. */
  readonly repository: string
  readonly branch: string
  readonly root: string
  /** Whether index and manifest files are believed that do not name the version that they describe. */
  readonly trustForeignIndexes: boolean
  readonly collection: Collections
  readonly batch: RunBatch
  readonly writer: RunWriter
  readonly transaction: RunTransaction
  readonly withTransaction: WithTransaction
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
  /** The branches of the repository, by name. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>, ReadError>
  /** Makes a branch, and returns the commit that it begins at. One that exists is a `ConflictError`. */
  readonly createBranch: (name: string, options?: CreateBranchOptions) => Effect.Effect<string, WriteError>
  /** Deletes a branch that is not the store's own. Deleting what is gone is success. */
  readonly deleteBranch: (name: string) => Effect.Effect<void, WriteError>
  /** The documents that differ between two branches, tags or commits, by collection and id. */
  readonly compare: (
    a: string,
    b: string,
    options?: CompareOptions
  ) => Stream.Stream<DocumentDifference, ReadError>
  /**
   * Merges a branch, a tag or a commit into a branch, as one commit with both as its parents, or by moving the branch
   * where it has nothing of its own. Documents that both changed are merged by their fields; indexes and manifests are
   * made of the merged documents. Conflicts that nobody decides fail it with a `ConflictError` that has all of them.
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
