import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { Oid } from "../../domain/Oid.js"
import type { Settings } from "../../domain/Settings.js"
import type { Cache } from "../Cache.js"
import type { ReadError, WriteError } from "../Collection.js"
import type { GitRemoteService, Head, Tree, TreeEntry } from "../GitRemote.js"
import type { ResolvedOptions } from "../StoreOptions.js"
import type { Unit, UnitOutcome } from "./WriteUnit.js"

/** The bytes of a file and their blob id. */
export interface FileVersion {
  readonly oid: Oid
  readonly content: Uint8Array
}

/** What reads look at: the head of a branch as it moves, or one commit. */
export interface Source {
  /** True where every read sees the same commit. */
  readonly pinned: boolean
  /** The commit that a read sees now; none in an empty repository. A missing branch or repository is an error. */
  readonly head: Effect.Effect<Option.Option<Head>, ReadError>
  /** One file as reads see it now, by way of the cache. */
  readonly file: (
    path: string,
    options?: { readonly fresh?: boolean | undefined }
  ) => Effect.Effect<Option.Option<FileVersion>, ReadError>
  /** One directory as reads see it now. Files in it are read by their ids, `at` the tree or commit that it names. */
  readonly directory: (
    path: string,
    recursive: boolean
  ) => Effect.Effect<
    Option.Option<{ readonly tree: Tree; readonly at: Head | Oid; readonly prefix: string }>,
    ReadError
  >
  readonly cache: Cache
  readonly cacheKey: (path: string) => string
}

/** The settings that hold at a commit. */
export interface SettingsAt {
  readonly settings: Settings
  /** False where the repository has no settings file: index and manifest files that exist are kept up then. */
  readonly recorded: boolean
  /** True where the next write must write the settings file. */
  readonly unrecorded: boolean
  /** Why this program may not write here, if so. */
  readonly frozen: string | undefined
}

/** What collections, batches, transactions and the like are made of. A copy with other parts is a core as well. */
export interface StoreCore {
  readonly remote: GitRemoteService
  readonly options: ResolvedOptions
  readonly branch: string
  readonly source: Source
  /** True where reads and writes take no requests, so that asking again is cheap. */
  readonly free: boolean
  /** The settings at a commit (none: an empty repository). */
  readonly settingsAt: (head: Option.Option<Head>) => Effect.Effect<SettingsAt, ReadError>
  /** The settings as reads see them now, in the fewest requests. */
  readonly settings: Effect.Effect<SettingsAt, ReadError>
  /** The direct entries of the root at a commit, by name. */
  readonly rootEntries: (head: Head) => Effect.Effect<ReadonlyMap<string, TreeEntry>, ReadError>
  readonly nextId: Effect.Effect<string>
  /** Makes one commit of document operations: see `WriteUnit.ts`. */
  readonly write: (unit: Unit) => Effect.Effect<UnitOutcome, WriteError>
  /** The same store on another branch, with a cache of its own. */
  readonly onBranch: (branch: string) => StoreCore
  /** A read-only core that sees one commit, with a cache of its own. */
  readonly at: (head: Option.Option<Head>) => StoreCore
  /** Forgets one cached path, or everything that is remembered. */
  readonly invalidate: (path?: string) => Effect.Effect<void>
}
