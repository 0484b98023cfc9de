import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { RefMoved } from "../../domain/Ref.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../../domain/StoreError.js"
import type { Change, CommitInfo, Committed, Head, NewCommit } from "../Commit.js"
import type { CommitObject, ObjectType, Person } from "../GitObject.js"
import type { HealthFinding } from "../HealthFinding.js"
import type { PathChange, Tree, TreeEntry } from "../Tree.js"

export type { CommitObject, ObjectType, Person }

export interface GitObject {
  readonly type: ObjectType
  readonly content: Uint8Array
}

/** The content of an object, piece by piece. */
export interface GitContent {
  readonly type: ObjectType
  readonly size: number
  /** Whether it is in memory as a whole while it is read: a delta, or an object that is not yet on the disk. */
  readonly whole: boolean
  /** Can be read once. */
  readonly pieces: Stream.Stream<Uint8Array, RemoteError>
}

export interface Reference {
  /** The whole name, such as `refs/heads/main`. */
  readonly name: string
  readonly oid: Oid
}

/**
 * The object database and the refs of one bare repository on this machine, shared with stock Git and with other
 * processes. Reads see every durable object, and the objects of this process's commits that are still being flushed.
 * Every mutation of a branch in this process takes the branch's queue; other processes are met at Git's own ref lock.
 */
export interface GitRepository {
  /** The bare repository's directory. */
  readonly directory: string

  readonly object: (oid: Oid) => Effect.Effect<Option.Option<GitObject>, RemoteError>
  /** As `object`, without more of it in memory than a piece where that can be. Open for as long as the scope lasts. */
  readonly openObject: (oid: Oid) => Effect.Effect<Option.Option<GitContent>, RemoteError, Scope.Scope>
  readonly objectInfo: (
    oid: Oid
  ) => Effect.Effect<Option.Option<{ readonly type: ObjectType; readonly size: number }>, RemoteError>
  /** Blobs in the order asked for; a missing one is a `RemoteError` (`Corrupt`). Bounded memory. */
  readonly blobs: (
    oids: ReadonlyArray<Oid>
  ) => Stream.Stream<{ readonly oid: Oid; readonly content: Uint8Array }, RemoteError>
  /** Writes one object, durably; writing it twice is harmless. */
  readonly writeObject: (type: ObjectType, content: Uint8Array) => Effect.Effect<Oid, RemoteError>
  /** As `writeObject`, with no more of it in memory than a piece; `RemoteError` where `size` is not what came. */
  readonly writeBlob: <E, R>(
    size: number,
    pieces: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<Oid, E | RemoteError, R>
  readonly writeCommit: (commit: CommitObject) => Effect.Effect<Oid, RemoteError>

  /** Branch, tag, whole ref name, or full or short id to an object id (tags are peeled to their commit). */
  readonly resolve: (revision: string) => Effect.Effect<Option.Option<Oid>, RemoteError>
  readonly commit: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, RemoteError>
  /** The entry at `path` below a commit or tree; "" is the root tree itself. */
  readonly lookup: (root: Oid, path: string) => Effect.Effect<Option.Option<TreeEntry>, RemoteError>
  /** The entries at many paths, in their order, without those that are not there. */
  readonly entries: (
    root: Oid,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<TreeEntry>, RemoteError>
  /** Direct entries, or with `recursive` every blob with its whole relative path (and, with `trees`, the trees too). */
  readonly tree: (
    root: Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined; readonly trees?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, RemoteError>
  /** Writes the trees of `base` with `changes` made (none: from nothing); answers the new root tree. Prunes directories left empty. */
  readonly writeTree: (
    base: Option.Option<Oid>,
    changes: ReadonlyArray<TreeChange>
  ) => Effect.Effect<Oid, RemoteError | ValidationError>
  /** The id `path` would have after `changes`, with nothing written. */
  readonly treeAfter: (
    base: Option.Option<Oid>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, RemoteError | ValidationError>

  /** A ref by its whole name, loose or packed. */
  readonly ref: (name: string) => Effect.Effect<Option.Option<Oid>, RemoteError>
  readonly refs: (prefix: string) => Effect.Effect<ReadonlyArray<Reference>, RemoteError>
  /** Test-and-set of a ref under Git's lock, after everything queued before it; `next` none deletes it. */
  readonly updateRef: (
    name: string,
    expected: Option.Option<Oid>,
    next: Option.Option<Oid>
  ) => Effect.Effect<void, RefMoved | RemoteError | AmbiguousWriteError>
  /** The short name of the branch that HEAD names. */
  readonly defaultBranch: Effect.Effect<string, RemoteError>

  /** As `GitRemote.commitNext`: batched, every write its own commit, answered when durable. */
  readonly commitNext: <A, E>(
    branch: string,
    build: (
      head: Option.Option<Head>
    ) => Effect.Effect<{ readonly commit: Option.Option<NewCommit>; readonly result: A }, E>
  ) => Effect.Effect<
    { readonly committed: Option.Option<Committed>; readonly result: A },
    E | RefMoved | RemoteError | AmbiguousWriteError | ValidationError
  >

  /** Runs `effect` in the branch queues' turn with everything flushed: what a `git receive-pack` child needs. What a killed child leaves is cleared up. */
  readonly exclusively: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RemoteError, R>

  readonly log: (
    from: Oid,
    options?: {
      readonly path?: string | undefined
      readonly limit?: number | undefined
      readonly skip?: number | undefined
      readonly since?: string | undefined
      readonly until?: string | undefined
      readonly author?: string | undefined
    }
  ) => Stream.Stream<CommitInfo, RemoteError>
  readonly diff: (
    before: Option.Option<Oid>,
    after: Oid,
    under?: string
  ) => Effect.Effect<ReadonlyArray<PathChange>, RemoteError>
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, RemoteError>
  readonly mergeBase: (a: Oid, b: Oid) => Effect.Effect<Option.Option<Oid>, RemoteError>
  /** What is to be said of the repository's files: what is damaged or locked, and what was repaired. */
  readonly health: Effect.Effect<ReadonlyArray<HealthFinding>, RemoteError>
  /** Repack, commit-graph with changed paths, prune of old temporary files; one at a time. */
  readonly maintain: Effect.Effect<void, RemoteError>
}

/** One change of a tree by object id; mode as in `TreeEntry`, `oid` none removes (a missing path is a `ValidationError`). */
export interface TreeChange {
  readonly path: string
  readonly mode: TreeEntry["mode"]
  readonly oid: Option.Option<Oid>
}
