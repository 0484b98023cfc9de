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

/** The content of an object as a stream. */
export interface GitContent {
  readonly type: ObjectType
  readonly size: number
  /** Whether the whole object is in memory: true for a delta, and for an object that is not yet on the disk. */
  readonly isBuffered: boolean
  /** The content. It can be read once. */
  readonly pieces: Stream.Stream<Uint8Array, RemoteError>
}

/**
 * The objects and refs of a bare repository on this machine, which stock Git and other processes may use at the same time. Reads
 * see every durable object, and the objects of this process's commits that are being flushed. Writers of a ref in this process
 * queue for its mutex; other processes are excluded by Git's ref lock.
 *
 * @since 0.1.0
 * @category models
 */
export interface GitRepository extends Repository {
  /** The bare repository's directory. */
  readonly directory: string

  /** The commit that a revision of `resolve` names, found and read together; none if it names none. */
  readonly commitAt: (revision: string) => Effect.Effect<Option.Option<CommitInfo>, RemoteError>
  /** Opens an object as a stream until the scope closes. It is in memory as a whole only if `isBuffered`. */
  readonly openObject: (oid: Oid) => Effect.Effect<Option.Option<GitContent>, RemoteError, Scope.Scope>
  /** The type and size of an object; none if it is missing. */
  readonly objectInfo: (
    oid: Oid
  ) => Effect.Effect<Option.Option<{ readonly type: ObjectType; readonly size: number }>, RemoteError>
  /** Writes an object durably. Writing it again is harmless. */
  readonly writeObject: (type: ObjectType, content: Uint8Array) => Effect.Effect<Oid, RemoteError>
  /** Writes a blob from a stream in bounded memory. `RemoteError` if the stream does not have `size` bytes. */
  readonly writeBlob: <E, R>(
    size: number,
    pieces: Stream.Stream<Uint8Array, E, R>
  ) => Effect.Effect<Oid, E | RemoteError, R>
  /** Writes a commit object, and returns its id. No ref is moved. */
  readonly writeCommit: (commit: CommitObject) => Effect.Effect<Oid, RemoteError>

  /** The direct entries, or with `recursive` every blob with its relative path; with `trees` also the trees. */
  readonly tree: (
    root: Oid,
    path: string,
    options?: ListOptions
  ) => Effect.Effect<Option.Option<Tree>, RemoteError>
  /** Applies changes to the tree `base` (none: the empty tree), and returns the new root tree. Empty directories are removed. */
  readonly writeTree: (
    base: Option.Option<Oid>,
    changes: ReadonlyArray<TreeChange>
  ) => Effect.Effect<Oid, RemoteError | ValidationError>
  /**
   * Runs an effect while it holds the mutex of a ref. No other writer of this process updates the ref meanwhile, and
   * `withExclusiveAccess` waits. The `updateRef` that is passed to the effect does not acquire the mutex again.
   */
  readonly withRefMutex: <A, E, R>(
    name: string,
    effect: (updateRef: GitRepository["updateRef"]) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RemoteError, R>
  /**
   * Runs an effect that starts writing Git programs. The files that a killed program leaves are removed before this ends, or soon
   * afterwards if its children still run.
   */
  readonly withGitChildren: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RemoteError, R>
  /**
   * Runs an effect after all staged commits are flushed and while no other writer of this process runs, as `git receive-pack`
   * requires. The files that a killed child leaves are removed.
   */
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
  /** Stores the objects of a pack of at most `most` bytes. The id of each object is verified. */
  readonly ingest: <E>(
    pack: Stream.Stream<Uint8Array, E>,
    most: number
  ) => Effect.Effect<void, E | RemoteError>
  /** Examines the repository's files: damage, locks and repairs. */
  readonly health: Effect.Effect<ReadonlyArray<HealthFinding>, RemoteError>
  /** Repacks, writes the commit-graph with changed paths, and removes old temporary files. One run at a time. */
  readonly maintain: Effect.Effect<void, RemoteError>
}

/** The change of one path of a tree. `oid` is none for a removal; a missing path is then a `ValidationError`. */
export interface TreeChange {
  readonly path: string
  readonly mode: TreeEntry["mode"]
  readonly oid: Option.Option<Oid>
}
