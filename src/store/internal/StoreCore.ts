import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import type { ReadError, WriteError } from "../../domain/StoreError.js"
import type { GitRemoteService, Head, TreeEntry } from "../remote/GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import type { Derived } from "./Derived.js"
import type { LocatedListing } from "./Listing.js"
import type { Precedence } from "./Precedence.js"
import type { SettingsAt } from "./RepositorySettings.js"
import type { Source } from "./Source.js"
import type { Unit, UnitOutcome } from "./WriteUnit.js"

export type { Derived } from "./Derived.js"
export type { SettingsAt } from "./RepositorySettings.js"
export type { FileVersion, Source } from "./Source.js"

/** What collections, batches, transactions and the like are made of. A copy with other parts is a core as well. */
export interface StoreCore {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly branch: string
  readonly source: Source
  /** True where reads and writes take no requests, so that asking again is cheap. */
  readonly free: boolean
  /** The settings at a commit (none: an empty repository). */
  readonly settingsAt: (head: Option.Option<Head | Oid>) => Effect.Effect<SettingsAt, ReadError>
  /** The settings as they were last seen, for guesses about what will be read. */
  readonly latestSettings: () => SettingsAt
  /** The settings as reads see them now, in the fewest requests. */
  readonly settings: Effect.Effect<SettingsAt, ReadError>
  /** The direct entries of the root at a commit, by name. */
  readonly rootEntries: (head: Head) => Effect.Effect<ReadonlyMap<string, TreeEntry>, ReadError>
  /** The documents of a collection as reads see them now. */
  readonly listing: (collection: string) => Effect.Effect<LocatedListing, ReadError>
  /** Index and manifest files. */
  readonly derived: Derived
  readonly nextId: Effect.Effect<string>
  readonly precedence: Precedence
  /** Makes one commit of document operations: see `WriteUnit.ts`. */
  readonly write: (unit: Unit) => Effect.Effect<UnitOutcome, WriteError>
  /** The same store on another branch, with a cache of its own. */
  readonly onBranch: (branch: string) => StoreCore
  /** The same for a branch that has just begun at the head of this one: its settings are the same. */
  readonly onFork: (branch: string) => StoreCore
  /** A read-only core that sees one commit, with a cache of its own. */
  readonly at: (head: Option.Option<Head>) => StoreCore
  /** Forgets one cached path, or everything that is remembered. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
}
