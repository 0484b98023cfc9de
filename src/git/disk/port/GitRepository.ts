import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { RemoteError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { CommitInfo } from "../../Commit.js"
import type { CommitObject, DatedSignature, ObjectType } from "../../GitObject.js"
import type { HealthFinding } from "../../HealthFinding.js"
import type { Reference, Repository } from "../../Repository.js"
import type { Tree, TreeEntry } from "../../Tree.js"
import type { ListOptions } from "../../TreeReading.js"

export type { CommitObject, DatedSignature, ObjectType, Reference }

/** The content of an object, piece by piece. */
export interface GitContent {
  readonly type: ObjectType
  readonly size: number
  /** Whether it is in memory as a whole while it is read: a delta, or an object that is not yet on the disk. */
  readonly isBuffered: boolean
  /** Can be read once. */
  readonly pieces: Stream.Stream<Uint8Array, RemoteError>
}

/**
 * The object database and the refs of one bare repository on this machine, shared with stock Git and with other
 * processes. Reads see every durable object, and the objects of this process's commits that are still being flushed.
 * Every mutation of a ref in this process takes the ref's queue; other processes are met at Git's own ref lock.
 *
 * @since 0.1.0
 * @category models
 */
export interface GitRepository extends Repository {
  /** The bare repository's directory. */
  readonly directory: string

  /** As `object`, without more of it in memory than a piece where that can be. Open for as long as the scope lasts. */
  readonly openObject: (oid: Oid) => Effect.Effect<Option.Option<GitContent>, RemoteError, Scope.Scope>
  /** The kind and size of an object; none where the repository has none. */
  readonly objectInfo: (
    oid: Oid
  ) => Effect.Effect<Option.Option<{ readonly type: ObjectType; readonly size: number }>, RemoteError>
  /** Writes one object, durably; writing it twice is harmless. */
  readonly writeObject: (type: ObjectType, content: Uint8Array) => Effect.Effect<Oid, RemoteError>
  /** As `writeObject`, with no more of it in memory than a piece; `RemoteError` where `size` is not what came. */
  readonly writeBlob: <E, R>(
    size: number,
    pieces: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<Oid, E | RemoteError, R>
  /** Writes a commit that no ref points to yet, and returns its id. */
  readonly writeCommit: (commit: CommitObject) => Effect.Effect<Oid, RemoteError>

  /** Direct entries, or with `recursive` every blob with its whole relative path (and, with `trees`, the trees too). */
  readonly tree: (
    root: Oid,
    path: string,
    options?: ListOptions
  ) => Effect.Effect<Option.Option<Tree>, RemoteError>
  /** Writes the trees of `base` with `changes` made (none: from nothing); answers the new root tree. Prunes directories left empty. */
  readonly writeTree: (
    base: Option.Option<Oid>,
    changes: ReadonlyArray<TreeChange>
  ) => Effect.Effect<Oid, RemoteError | ValidationError>
  /**
   * Runs what reads a ref, judges it and moves it, in the turn of those who move it: nobody in this process comes in
   * between, nor anybody who runs `exclusively`. The `updateRef` that it is given does not wait for the turn again.
   */
  readonly withRefMutex: <A, E, R>(
    name: string,
    effect: (updateRef: GitRepository["updateRef"]) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RemoteError, R>
  /**
   * Runs what starts Git programs that write. What a killed one leaves is removed before this ends, or soon after where its
   * own children go on for a while.
   */
  readonly withGitChildren: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RemoteError, R>
  /** Runs `effect` in the branch queues' turn with everything flushed: what a `git receive-pack` child needs. What a killed child leaves is cleared up. */
  readonly withExclusiveAccess: <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RemoteError, R>

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
  /** Puts the objects of a pack of at most so many bytes into the repository, each checked by its name; see `PackIngest`. */
  readonly ingest: <E>(
    pack: Stream.Stream<Uint8Array, E>,
    most: number
  ) => Effect.Effect<void, E | RemoteError>
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
