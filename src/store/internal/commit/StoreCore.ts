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
  /** Runs a transaction on this one's branch as one of its calls; it returns the commit that it published. */
  readonly nested: <A extends { readonly commitSha: Option.Option<string> }, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ValidationError, R>
  /** Notes documents that were written inside, by `nameOf`. */
  readonly recordWrites: (names: Iterable<string>) => void
}

/** What collections, batches, transactions and the like are made of. A copy with other parts is a core as well. */
export interface StoreCore {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly branch: string
  /** True for a view, whose every snapshot is of the same commit. */
  readonly isPinned: boolean
  /** None for a branch that is visible to everybody. */
  readonly transaction?: EnclosingTransaction | undefined
  /** What reads see now: one snapshot for each operation. */
  readonly snapshot: () => Snapshot
  /** The settings in a snapshot, and the entries of its root. */
  readonly repository: RepositorySettings
  /** The settings as a read needs them, in the fewest requests. */
  readonly settings: (snapshot: Snapshot) => Effect.Effect<RecordedSettings, ReadError>
  /** The documents of a collection. */
  readonly listing: (snapshot: Snapshot, collection: string) => Effect.Effect<LocatedListing, ReadError>
  /** Index and manifest files. */
  readonly derived: Derived
  readonly cache: FileCache
  readonly nextId: Effect.Effect<string>
  readonly branchLocks: BranchLocks
  /** Makes one commit of document operations: see `DocumentEdit.ts`. */
  readonly write: (edit: Edit) => Effect.Effect<EditOutcome, WriteError>
  /** The same store on another branch, with a cache of its own. */
  readonly onBranch: (branch: string) => StoreCore
  /** The same for a branch that has just begun at the head of this one; what is looked at is noted in `reads`. */
  readonly onFork: (branch: string, reads?: ReadSet) => StoreCore
  /** A read-only core that sees one commit, with a cache of its own; what is looked at is noted in `reads`. */
  readonly at: (head: Option.Option<Head>, reads?: ReadSet) => StoreCore
  /** Forgets one cached path, or everything that is remembered. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
}
