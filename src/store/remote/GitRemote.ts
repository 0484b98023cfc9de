import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import type { RefMoved } from "../../domain/Ref.js"
import type {
  AmbiguousWriteError,
  AuthError,
  ConflictError,
  NotFoundError,
  RateLimitError,
  RemoteError,
  ValidationError
} from "../../domain/StoreError.js"
import type { Change, CommitInfo, CommitText, Committed, Head, NewCommit } from "../../git/Commit.js"
import type { HealthFinding } from "../../git/HealthFinding.js"
import type { Blob, PathChange, Tree } from "../../git/Tree.js"

export type * from "../../git/Commit.js"
export type * from "../../git/HealthFinding.js"
export type * from "../../git/Tree.js"

/** Why a remote could not answer. A missing path, ref or document is not among them: that is an absent value. */
export type RemoteFailure = AuthError | NotFoundError | RateLimitError | RemoteError | ValidationError

/** Why a write was not acknowledged. `RefMoved` means: nothing was written, look at the branch again. */
export type WriteFailure = RemoteFailure | RefMoved | AmbiguousWriteError

/** What exists and what may be done. `write` is none where the remote does not tell. */
export interface Probe {
  readonly repository: "present" | "empty" | "absent"
  readonly branch: boolean
  readonly defaultBranch: Option.Option<string>
  readonly write: Option.Option<boolean>
  readonly hint?: string | undefined
}

/** The last known state of a rate limit, per resource (`core`, `graphql`). */
export interface Budget {
  readonly resource: string
  readonly limit: number
  readonly remaining: number
  readonly used: number
  /** Seconds since the epoch. */
  readonly reset: number
  readonly resetAt: Date
}

/** An operation whose cost in requests can be told beforehand. */
export type Estimate =
  | { readonly _tag: "Read"; readonly documents: number }
  | { readonly _tag: "List"; readonly entries: number }
  | { readonly _tag: "Commit"; readonly changes: number; readonly bytes: number; readonly warm: boolean }
  | { readonly _tag: "PutFile"; readonly bytes: number; readonly warm: boolean }

/** What the single-file short cut answers. */
export interface FileCommitted {
  readonly commit: Oid
  /** What the commit stands on; undefined where the answer does not tell. */
  readonly parents: ReadonlyArray<Oid> | undefined
  readonly tree: Option.Option<Oid>
  /** None when the file was deleted. */
  readonly blob: Option.Option<Oid>
}

/**
 * The short cut of remotes that write one file as one commit in one request, with the file's own blob as the
 * precondition (GitHub's Contents API). A branch that moved elsewhere meanwhile is no reason to fail: the remote
 * sends the request again. `ConflictError` means that the file is not as expected; its `actual` names the blob where known.
 */
export interface SingleFile {
  /** `expected` none: the file must not exist. */
  readonly put: (
    branch: string,
    path: string,
    content: Uint8Array,
    expected: Option.Option<Oid>,
    text: CommitText
  ) => Effect.Effect<FileCommitted, RemoteFailure | ConflictError | AmbiguousWriteError>
  readonly delete: (
    branch: string,
    path: string,
    expected: Oid,
    text: CommitText
  ) => Effect.Effect<FileCommitted, RemoteFailure | ConflictError | AmbiguousWriteError>
  /**
   * Runs alone among the writers of this process to the branch, so that none of them changes what it reads before it
   * writes. A `put`, `delete` or `commitNext` inside does not wait for it.
   */
  readonly exclusively: (branch: string) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Above this many bytes a content does not go this way. */
  readonly maxBytes: number
}

/** One branch of several that move at once: where it is (none: it must not exist), and where it goes (none: it is deleted). */
export interface BranchMove {
  readonly branch: string
  readonly from: Option.Option<Oid>
  readonly to: Option.Option<Oid>
}

/** What is going to be read at a commit: files, and the direct entries of directories. Paths that are missing are no error. */
export interface Wants {
  readonly files: ReadonlyArray<string>
  readonly trees: ReadonlyArray<string>
  /** The files that the commit changed are read next, as they are in it and as they were before. */
  readonly changes?: boolean | undefined
}

/** How a read of a path may use what is already known of it. */
export interface ReadPath {
  readonly content: Uint8Array
  readonly oid: Oid
  /** True when the remote said that the cached version still stands (HTTP 304). */
  readonly notModified: boolean
  /** The validator of this version, where the remote gave one. */
  readonly etag?: string | undefined
}

/** A version of a file that a caller holds, with the validator that came with it. */
export interface KnownFile extends Blob {
  readonly etag?: string | undefined
}

/**
 * One repository, wherever it lives. Everything about GitHub's quirks or about a bare repository on a disk stays
 * behind it. Names of branches are short (`main`). Effects need nothing and are safe to interrupt: a write that is
 * interrupted either happened as a whole or did not happen.
 *
 * Where a remote promises less than is said here, its own documentation names the case; the contract suite knows it.
 */
export interface GitRemoteService {
  /** Stable name of remote and repository, such as `https://api.github.com/owner/name`: the first part of every cache key. */
  readonly name: string
  /** `owner/name`, where the repository has one. */
  readonly repo?: string | undefined

  /** Looks at repository, branch and rights. Never fails because something is absent. */
  readonly probe: (branch: string) => Effect.Effect<Probe, RemoteFailure>

  /** Branch, tag, or full or short commit id to a commit with its tree. None when absent, or when the repository is empty. */
  readonly resolve: (ref: string, wants?: Wants) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /** Where the branch is now, never from a cache older than this process's own last write. None when absent. */
  readonly head: (branch: string, wants?: Wants) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /**
   * True where `wants` come in the request that finds the commit, so that reading them costs nothing more. Elsewhere
   * they are ignored.
   */
  readonly brings?: boolean

  /**
   * The directory at `path` ("" is the root) of a commit or tree. Recursive listings hold blobs (and submodules)
   * only, with whole relative paths; others hold the direct entries. Ordered by path as Git orders trees.
   * Complete or a failure, never silently cut. None when `path` is missing or is not a directory.
   */
  readonly tree: (
    at: Head | Oid,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<Option.Option<Tree>, RemoteFailure>

  /**
   * The directory at `path` of the branch's head, of remotes where asking for the head first would cost a request
   * more; the others leave it out. Entries are named by their ids, so what is read by them belongs to the same commit.
   * `head` is known where the same request tells it. None when `path` is missing or is not a directory.
   */
  readonly treeAtBranch?: (
    branch: string,
    path: string,
    options?: { readonly recursive?: boolean | undefined }
  ) => Effect.Effect<
    Option.Option<{ readonly tree: Tree; readonly head: Option.Option<Head> }>,
    RemoteFailure
  >

  /** The id that the directory `path` will have once `changes` are made to the tree of `at`. None when it will be empty. */
  readonly treeAfter: (
    at: Option.Option<Head>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, RemoteFailure>

  /**
   * The file at `path` of a commit. None when it is missing or is not a file. `known` may be answered again where it
   * still is what the commit has.
   */
  readonly file: (
    at: Head | Oid,
    path: string,
    options?: { readonly known?: Blob | undefined }
  ) => Effect.Effect<Option.Option<Blob>, RemoteFailure>

  /**
   * The file at `path` at the branch's head, in the fewest requests: `known` lets a remote answer "not modified".
   * None when missing. `fresh` ignores every validator and intermediate cache.
   */
  readonly fileAtBranch: (
    branch: string,
    path: string,
    options?: { readonly known?: KnownFile | undefined; readonly fresh?: boolean | undefined }
  ) => Effect.Effect<Option.Option<ReadPath>, RemoteFailure>

  /**
   * Contents of many files of one commit, in the order asked for, skipping what is missing. Entries with a known
   * `oid` are read by it. Bounded memory; `concurrency` bounds requests in flight where there are requests.
   */
  readonly blobs: (
    at: Head | Oid,
    files: ReadonlyArray<{ readonly path: string; readonly oid?: Oid | undefined }>,
    options?: { readonly concurrency?: number | undefined }
  ) => Stream.Stream<Blob, RemoteFailure>

  /**
   * One atomic commit on top of `expected` (none: the branch must not exist; in an empty repository this bootstraps
   * it). Fails with `RefMoved` when the branch is elsewhere. When it answers, the commit is durable and visible.
   */
  readonly commit: (
    branch: string,
    expected: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Committed, WriteFailure>

  /**
   * The next commit of a branch: takes the branch's turn in this process, runs `build` with the head that the commit
   * will stand on (which may be a commit of this process that is not yet durable; its objects can be read through
   * this service), and makes the commit. `build` answering none for `commit` gives the turn back and writes nothing.
   * Answers once the commit is durable; commits of waiting callers share one flush where the remote can. `RefMoved`
   * when somebody else moved the branch: call it again. `build` may not call `commit` or `commitNext`.
   */
  readonly commitNext: <A, E>(
    branch: string,
    build: (
      head: Option.Option<Head>
    ) => Effect.Effect<{ readonly commit: Option.Option<NewCommit>; readonly result: A }, E>,
    wants?: Wants
  ) => Effect.Effect<{ readonly committed: Option.Option<Committed>; readonly result: A }, E | WriteFailure>

  readonly singleFile: Option.Option<SingleFile>

  /** Commits that changed `path` ("" for all), newest first, reached from `at`, `limit` at most. Follows no renames. */
  readonly log: (
    at: Head | Oid,
    path: string,
    options?: { readonly limit?: number | undefined }
  ) => Stream.Stream<CommitInfo, RemoteFailure>

  readonly commitInfo: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, RemoteFailure>

  /** Every path whose blob differs between two commits or trees (none: the empty tree), below `under`. Complete, whatever its size. */
  readonly diff: (
    before: Option.Option<Head | Oid>,
    after: Head | Oid,
    options?: { readonly under?: string | undefined }
  ) => Effect.Effect<ReadonlyArray<PathChange>, RemoteFailure>

  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, RemoteFailure>

  /**
   * Fails with `RefMoved` when the branch exists. `unique` says that nobody else can choose this name: a branch that
   * exists at the commit is then one whose creation was delivered twice, and a success.
   */
  readonly createBranch: (
    branch: string,
    at: Oid,
    options?: { readonly unique?: boolean | undefined }
  ) => Effect.Effect<void, WriteFailure>
  /** Deleting what is gone is success. */
  readonly deleteBranch: (branch: string) => Effect.Effect<void, RemoteFailure>
  readonly listBranches: (
    prefix: string
  ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly commit: Oid }>, RemoteFailure>
  /** Moves a branch forward from `from` to its descendant `to`; never forced: `RefMoved` when it is not at `from`, or `to` does not descend from it. */
  readonly advance: (branch: string, from: Oid, to: Oid) => Effect.Effect<void, WriteFailure>

  /**
   * Moves, makes and deletes several branches in one step, all or none, each only from where it is said to be and
   * never by force: `RefMoved` names one that is elsewhere, or that `to` does not descend from. Left out by remotes
   * that know no such step; where one turns out not to know it, a `RemoteError` of reason `Unsupported` says so, and
   * nothing has moved.
   */
  readonly moveBranches?: (moves: ReadonlyArray<BranchMove>) => Effect.Effect<void, WriteFailure>

  /** What is to be said of the repository's own files, where the remote can see them. Absent where it cannot. */
  readonly health?: Effect.Effect<ReadonlyArray<HealthFinding>, RemoteFailure>

  /** What is known of the rate limit, without a charged request. None where there is none. */
  readonly budget: Effect.Effect<ReadonlyArray<Budget>, RemoteFailure>
  /** Requests that an operation will take. Zero on remotes without requests. */
  readonly estimate: (operation: Estimate) => number

  /** Forgets what is remembered of heads and trees of mutable names. */
  readonly invalidate: Effect.Effect<void>
}

/** The repository that a store is written against. */
export class GitRemote extends Context.Tag("chainstore/store/GitRemote")<GitRemote, GitRemoteService>() {}
