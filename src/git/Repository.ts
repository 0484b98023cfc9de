import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { RefMoved } from "../domain/errors/RefMoved.js"
import type { AmbiguousWriteError, RemoteError, ValidationError } from "../domain/errors/StoreError.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { Change, CommitInfo, Committed, Head, NewCommit } from "./Commit.js"
import type { RawObject } from "./GitObject.js"
import type { HealthFinding } from "./HealthFinding.js"
import type { TemporaryFile } from "./TemporaryFile.js"
import type { PathChange, Tree, TreeEntry } from "./Tree.js"

export interface Reference {
  /** The full name, such as `refs/heads/main`. */
  readonly name: string
  readonly oid: Oid
}

/** The update of one ref. `expected` is none if the ref must not exist, and `next` is none if it is deleted. */
export interface RefUpdate {
  readonly name: string
  readonly expected: Option.Option<Oid>
  readonly next: Option.Option<Oid>
}

/**
 * The port through which a store uses a Git repository: objects that are addressed by content, and refs that are updated by
 * test-and-set.
 *
 * A missing commit or tree is a `RemoteError` (`Corrupt`), unless the method returns an option. `Failure` is the error of the
 * implementation. Effects are safe to interrupt: an interrupted write takes effect completely or not at all.
 */
export interface Repository<Failure = RemoteError> {
  /** The name for errors, such as a directory or `memory://1`. */
  readonly name: string

  readonly object: (oid: Oid) => Effect.Effect<Option.Option<RawObject>, Failure>
  /** The blobs in the order of `oids`, in bounded memory. A missing one is a `RemoteError` (`Corrupt`). */
  readonly blobs: (
    oids: ReadonlyArray<Oid>
  ) => Stream.Stream<{ readonly oid: Oid; readonly content: Uint8Array }, Failure>

  /** Fetches blobs that are about to be read. Only a partial clone has this method. */
  readonly prefetchBlobs?: ((oids: ReadonlyArray<Oid>) => Effect.Effect<void, Failure>) | undefined

  /**
   * Resolves a branch, a tag, a full ref name, or a full or abbreviated id. Tags are peeled to their commit. `withParents`: the
   * parents of the commit are read next, so a clone may fetch them together with it.
   */
  readonly resolve: (
    revision: string,
    options?: { readonly withParents?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Oid>, Failure>
  readonly commit: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, Failure>
  /** The entry at `path` below a commit or tree; "" is the root tree itself. */
  readonly lookup: (root: Oid, path: string) => Effect.Effect<Option.Option<TreeEntry>, Failure>
  /** The entries at many paths, in their order, without missing ones. */
  readonly entries: (
    root: Oid,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<TreeEntry>, Failure>
  /** The direct entries, or with `recursive` every blob with its relative path. */
  readonly tree: (
    root: Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, Failure>
  /** The id of the tree at `path` after `changes`, without writing anything. None if it would be empty or missing. */
  readonly treeAfter: (
    base: Option.Option<Oid>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, Failure | ValidationError>

  /** A ref by its full name. `beforeWrite`: a write to it follows, so a clone may look it up by the request of a push. */
  readonly ref: (
    name: string,
    options?: { readonly beforeWrite?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Oid>, Failure>
  /** The refs whose full names begin with `prefix`, ordered by name. */
  readonly refs: (prefix: string) => Effect.Effect<ReadonlyArray<Reference>, Failure>
  /**
   * Updates a ref by test-and-set, after every commit that this process queued for it. `next` none deletes the ref. `unique`: no
   * other writer can choose the name, so a ref that already exists at `next` was created by a repeated delivery. `temporary`: no
   * other client needs the new branch, so a clone may keep it local until an update of which it is a part is refused.
   */
  readonly updateRef: (
    name: string,
    expected: Option.Option<Oid>,
    next: Option.Option<Oid>,
    options?: { readonly unique?: boolean | undefined; readonly temporary?: boolean | undefined }
  ) => Effect.Effect<void, RefMoved | Failure | AmbiguousWriteError>
  /** Updates several refs, all or none. Absent if the repository does not support that. */
  readonly updateRefs?:
    | ((updates: ReadonlyArray<RefUpdate>) => Effect.Effect<void, RefMoved | Failure | AmbiguousWriteError>)
    | undefined
  /** The short name of the branch that HEAD points to. The branch may not exist. */
  readonly defaultBranch: Effect.Effect<string, Failure>
  /** The short names of all branches, and that of the branch that HEAD points to. */
  readonly branches: Effect.Effect<
    { readonly names: ReadonlyArray<string>; readonly defaultBranch: string },
    Failure
  >

  /**
   * Commits to a branch: locks the branch among the writers that share this value, runs `build` with the newest commit, and makes
   * the commit that it returns. Returns when the commit is durable. Fails with `RefMoved` if another writer moved the branch.
   */
  readonly commitNext: <A, E>(
    branch: string,
    build: (
      head: Option.Option<Head>
    ) => Effect.Effect<{ readonly commit: Option.Option<NewCommit>; readonly result: A }, E>
  ) => Effect.Effect<
    { readonly committed: Option.Option<Committed>; readonly result: A },
    E | RefMoved | Failure | AmbiguousWriteError | ValidationError
  >

  /** The commits that changed `path`, newest first, with the history simplification of `git log`. */
  readonly log: (
    from: Oid,
    options?: { readonly path?: string | undefined; readonly limit?: number | undefined }
  ) => Stream.Stream<CommitInfo, Failure>
  /** Every path below `under` whose blob differs between two commits or trees, ordered by path. */
  readonly diff: (
    before: Option.Option<Oid>,
    after: Oid,
    under?: string
  ) => Effect.Effect<ReadonlyArray<PathChange>, Failure>
  /** False if one of the commits is missing. */
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, Failure>
  /** The best common ancestors of two commits, ordered by id. Criss-cross histories have several, unrelated ones have none. */
  readonly mergeBases: (a: Oid, b: Oid) => Effect.Effect<ReadonlyArray<Oid>, Failure>

  /** A temporary file for data that is too large for memory. Absent if the repository is not on a disk. */
  readonly temporaryFile?: Effect.Effect<TemporaryFile, RemoteError, Scope.Scope> | undefined

  /** Examines the repository's files. Absent if it has none. */
  readonly health?: Effect.Effect<ReadonlyArray<HealthFinding>, Failure> | undefined
}
