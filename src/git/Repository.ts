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
  /** The whole name, such as `refs/heads/main`. */
  readonly name: string
  readonly oid: Oid
}

/** One ref that moves: where it is (none: it must not exist), and where it goes (none: it is deleted). */
export interface RefUpdate {
  readonly name: string
  readonly expected: Option.Option<Oid>
  readonly next: Option.Option<Oid>
}

/**
 * A Git repository: objects that are found by their content's id, and refs that move by test-and-set. This is what a
 * store needs of one, wherever it is kept.
 *
 * A commit or tree that is asked for by its id and is missing is a `RemoteError` (`Corrupt`), except where the answer
 * is an option of it. `Failure` is why a repository did not answer. Effects are safe to interrupt: a write that is
 * interrupted either happened as a whole or did not.
 */
export interface Repository<Failure = RemoteError> {
  /** What errors call it, such as a directory or `memory://1`. */
  readonly name: string

  readonly object: (oid: Oid) => Effect.Effect<Option.Option<RawObject>, Failure>
  /** Blobs in the order asked for; a missing one is a `RemoteError` (`Corrupt`). Bounded memory. */
  readonly blobs: (
    oids: ReadonlyArray<Oid>
  ) => Stream.Stream<{ readonly oid: Oid; readonly content: Uint8Array }, Failure>

  /** Brings blobs that are read next into the repository, where it is a copy of a part of another one. */
  readonly prefetchBlobs?: ((oids: ReadonlyArray<Oid>) => Effect.Effect<void, Failure>) | undefined

  /** Branch, tag, whole ref name, or full or short id to an object id (tags are peeled to their commit). */
  readonly resolve: (revision: string) => Effect.Effect<Option.Option<Oid>, Failure>
  readonly commit: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, Failure>
  /** The entry at `path` below a commit or tree; "" is the root tree itself. */
  readonly lookup: (root: Oid, path: string) => Effect.Effect<Option.Option<TreeEntry>, Failure>
  /** The entries at many paths, in their order, without those that are not there. */
  readonly entries: (
    root: Oid,
    paths: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<TreeEntry>, Failure>
  /** Direct entries, or with `recursive` every blob with its whole relative path. */
  readonly tree: (
    root: Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, Failure>
  /** The id `path` would have after `changes`, with nothing written. None when it would be empty or missing. */
  readonly treeAfter: (
    base: Option.Option<Oid>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, Failure | ValidationError>

  /** A ref by its whole name. */
  readonly ref: (name: string) => Effect.Effect<Option.Option<Oid>, Failure>
  /** The refs whose whole names begin with `prefix`, ordered by name. */
  readonly refs: (prefix: string) => Effect.Effect<ReadonlyArray<Reference>, Failure>
  /**
   * Test-and-set of a ref, after every commit of this process that was queued for it; `next` none deletes it. `unique` says
   * that nobody else can choose the name: a ref that exists at `next` is then one whose creation was delivered twice.
   * `temporary` says that nobody else has to see a branch which is made: a copy of another repository may keep it to
   * itself, until a move of refs in which it takes part is refused.
   */
  readonly updateRef: (
    name: string,
    expected: Option.Option<Oid>,
    next: Option.Option<Oid>,
    options?: { readonly unique?: boolean | undefined; readonly temporary?: boolean | undefined }
  ) => Effect.Effect<void, RefMoved | Failure | AmbiguousWriteError>
  /** The same for several refs in one step, all or none. Left out by repositories that know no such step. */
  readonly updateRefs?:
    | ((updates: ReadonlyArray<RefUpdate>) => Effect.Effect<void, RefMoved | Failure | AmbiguousWriteError>)
    | undefined
  /** The short name of the branch that HEAD names, which need not exist. */
  readonly defaultBranch: Effect.Effect<string, Failure>

  /**
   * The next commit of a branch: takes the branch's turn among the writers that share this value, runs `build` with the
   * newest commit, and makes what it gives. Returns once the commit is durable. `RefMoved` when somebody else moved the
   * branch meanwhile.
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

  /** Commits that changed `path`, newest first, as `git log` simplifies history. */
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
  /** False where one of them is missing. */
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, Failure>
  /** All best common ancestors of two commits, ordered by id: several where histories cross, none where they are unrelated. */
  readonly mergeBases: (a: Oid, b: Oid) => Effect.Effect<ReadonlyArray<Oid>, Failure>

  /** Room for what is too large for memory, where the repository is on a disk. */
  readonly temporaryFile?: Effect.Effect<TemporaryFile, RemoteError, Scope.Scope> | undefined

  /** What is to be said of the repository's files, where it has files. */
  readonly health?: Effect.Effect<ReadonlyArray<HealthFinding>, Failure> | undefined
}
