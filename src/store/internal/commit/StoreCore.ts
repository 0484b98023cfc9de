import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ReadError, ValidationError, WriteError } from "../../../domain/errors/StoreError.js"
import type { GitRemoteService, Head } from "../../remote/GitRemote.js"
import type { ResolvedOptions } from "../../StoreOptions.js"
import type { Derived } from "../derived/Derived.js"
import type { FileCache } from "../snapshot/FileCache.js"
import type { LocatedListing } from "../snapshot/Listing.js"
import type { RecordedSettings, RepositorySettings } from "../snapshot/RepositorySettings.js"
import type { ReadSet, Snapshot } from "../snapshot/Snapshot.js"
import type { BranchLocks } from "./BranchLocks.js"
import type { Edit, EditOutcome } from "./DocumentEdit.js"

export type { FileVersion } from "../../remote/GitRemote.js"
export type { Derived } from "../derived/Derived.js"
export type { SettingsAt } from "../snapshot/RepositorySettings.js"
export type { Snapshot } from "../snapshot/Snapshot.js"

/** The transaction to which a core's work branch belongs. */
export interface EnclosingTransaction {
  /** What the transaction has read. */
  readonly readSet: ReadSet
  /** The message of batches that have none. */
  readonly message: string | undefined
  /**
   * Runs a nested transaction, based on this one's branch, as one of its calls. The effect returns the commit that it
   * published.
   */
  readonly nested: <A extends { readonly commitSha: Option.Option<string> }, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ValidationError, R>
  /** Records documents that the transaction wrote, by `nameOfDocument`. */
  readonly recordWrites: (names: Iterable<string>) => void
}

/**
 * The dependencies of collections, batches, transactions and the other parts of a store. A copy with other members is a
 * valid core too.
 */
export interface StoreCore {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly branch: string
  /** True for a view, whose snapshots are all of the same commit. */
  readonly isPinned: boolean
  /** Undefined for a branch that is not a transaction's work branch. */
  readonly transaction?: EnclosingTransaction | undefined
  /** A new snapshot, for the reads of one operation. */
  readonly snapshot: () => Snapshot
  /** Reads the settings of a snapshot, and the entries of its root. */
  readonly repository: RepositorySettings
  /** The settings for a read, with the fewest requests. */
  readonly settings: (snapshot: Snapshot) => Effect.Effect<RecordedSettings, ReadError>
  /** The documents of a collection. */
  readonly listing: (snapshot: Snapshot, collection: string) => Effect.Effect<LocatedListing, ReadError>
  /** Index and manifest files. */
  readonly derived: Derived
  readonly cache: FileCache
  readonly nextId: Effect.Effect<string>
  readonly branchLocks: BranchLocks
  /** Commits an edit. */
  readonly write: (edit: Edit) => Effect.Effect<EditOutcome, WriteError>
  /** The same store on another branch, with its own cache. */
  readonly onBranch: (branch: string) => StoreCore
  /** The same store on a new branch at the head of this one; reads are recorded in `reads`. */
  readonly onFork: (branch: string, reads?: ReadSet) => StoreCore
  /** A read-only core of one commit, with its own cache; reads are recorded in `reads`. */
  readonly at: (head: Option.Option<Head>, reads?: ReadSet) => StoreCore
  /** Removes one path from the cache, or clears all caches. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
}
