import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Change, CommitInfo, Committed, Head, NewCommit } from "../../git/Commit.js"
import type { HealthFinding } from "../../git/HealthFinding.js"
import type { TemporaryFile } from "../../git/TemporaryFile.js"
import type { PathChange } from "../../git/Tree.js"
import type { PullRequests } from "./PullRequests.js"
import type { RemoteFailure, WriteFailure } from "./RemoteFailure.js"
import type { CommitReads, RemoteSnapshot } from "./RemoteSnapshot.js"

export type * from "../../git/Commit.js"
export type * from "../../git/HealthFinding.js"
export type { TemporaryFile } from "../../git/TemporaryFile.js"
export type { Blob, EntryKind, PathChange, Tree, TreeEntry } from "../../git/Tree.js"
export type * from "./PullRequests.js"
export type * from "./RemoteFailure.js"
export * from "./RemoteSnapshot.js"

/**
 * What exists and what may be done. `write` is none where the remote does not tell.
 *
 * @since 0.1.0
 * @category models
 */
export interface Probe {
  /** Whether the repository exists, and whether it has any commit. */
  readonly repository: "present" | "empty" | "absent"
  /** Whether the branch exists. */
  readonly branch: boolean
  /** The branch that the repository names as its default; none where it names none. */
  readonly defaultBranch: Option.Option<string>
  /** Whether the caller may write; none where the remote does not tell. */
  readonly write: Option.Option<boolean>
  /** What to do, where something is missing. */
  readonly hint?: string | undefined
}

/**
 * The last known state of a rate limit, per resource (`core`, `graphql`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Budget {
  /** Which limit it is: `core`, `graphql`, or a name that the host gives. */
  readonly resource: string
  /** Requests, or points of GraphQL, allowed in one window. */
  readonly limit: number
  /** What is left of `limit` in this window. */
  readonly remaining: number
  /** What was used of `limit` in this window. */
  readonly used: number
  /** Seconds since the epoch. */
  readonly reset: number
  /** `reset` as a date. */
  readonly resetAt: Date
}

/**
 * An operation whose cost in requests can be told beforehand.
 *
 * @since 0.1.0
 * @category models
 */
export type Estimate =
  | { readonly _tag: "Read"; readonly documents: number }
  | { readonly _tag: "List"; readonly entries: number }
  | { readonly _tag: "Commit"; readonly changes: number; readonly bytes: number; readonly warm: boolean }
  | { readonly _tag: "PutFile"; readonly bytes: number; readonly warm: boolean }
  /** A proposal of edits that are one commit. */
  | {
      readonly _tag: "Propose"
      readonly changes: number
      readonly bytes: number
      readonly warm: boolean
      readonly labels?: number | undefined
    }
  /** An index, and whether it is the one of the documents. */
  | { readonly _tag: "Lookup" }

/**
 * What is known of a commit that has just been made.
 *
 * @since 0.1.0
 * @category models
 */
export interface CommitMade {
  /** The commit that was made. */
  readonly commit: Oid
  /** None where the answer does not tell. */
  readonly tree: Option.Option<Oid>
  /** Undefined where the answer does not tell. */
  readonly parents: ReadonlyArray<Oid> | undefined
  /** The ids of the paths that were put. */
  readonly blobs: ReadonlyMap<string, Oid>
}

/**
 * What an edit makes of a snapshot.
 *
 * @since 0.1.0
 * @category models
 */
export interface Edited<A, E> {
  /** None: there is nothing to write. */
  readonly commit: Option.Option<NewCommit>
  /** What the caller of the edit gets. */
  readonly result: A
  /**
   * Judges a commit that changes one file and was made by the file's blob alone, so that nothing else which the edit
   * read was checked: it stands, a commit after it has put it right, or it has been taken back and the edit is to run
   * again. Runs to its end even where nobody waits for it any longer.
   */
  readonly verify?: ((made: CommitMade) => Effect.Effect<"stands" | "amended" | "takenBack", E>) | undefined
}

/**
 * One branch of several that move at once: where it is (none: it must not exist), and where it goes (none: it is
 * deleted).
 *
 * @since 0.1.0
 * @category models
 */
export interface BranchMove {
  /** The short name of the branch. */
  readonly branch: string
  /** The commit that it must point to; none: it must not exist. */
  readonly from: Option.Option<Oid>
  /** The commit that it points to afterwards; none: it is deleted. */
  readonly to: Option.Option<Oid>
}

/**
 * One repository, wherever it lives. Everything about GitHub's quirks or about a bare repository on a disk stays
 * behind it. Names of branches are short (`main`). Effects need nothing and are safe to interrupt: a write that is
 * interrupted either happened as a whole or did not happen.
 *
 * Where a remote promises less than is said here, its own documentation names the case; the contract suite knows it.
 *
 * @since 0.1.0
 * @category models
 */
export interface GitRemoteService extends CommitReads {
  /** Stable name of remote and repository, such as `https://api.github.com/owner/name`: the first part of every cache key. */
  readonly name: string
  /** `owner/name`, where the repository has one. */
  readonly repo?: string | undefined

  /** Looks at repository, branch and rights. Never fails because something is absent. */
  readonly probe: (branch: string) => Effect.Effect<Probe, RemoteFailure>

  /** Where the branch is now, never from a cache older than this process's own last write. None when absent. */
  readonly head: (branch: string) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /** The branch as it is now, never older than this process's own last write. */
  readonly snapshot: (branch: string) => RemoteSnapshot

  /** What `resolve` finds; a whole id is taken for that of a commit until nothing is found by it. */
  readonly snapshotAt: (ref: string) => RemoteSnapshot

  /**
   * Brings files that are read next to where they are read from, by their ids and in as few requests as it can, without holding them
   * in memory. Left out by remotes that gain nothing by it.
   */
  readonly bring?: (oids: ReadonlyArray<Oid>) => Effect.Effect<void, RemoteFailure>

  /** The id that the directory `path` will have once `changes` are made to the tree of `at`. None when it will be empty. */
  readonly treeAfter: (
    at: Option.Option<Head>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, RemoteFailure>

  /**
   * One atomic commit on top of `expected` (none: the branch must not exist; in an empty repository this bootstraps
   * it). Fails with `RefMoved` when the branch is elsewhere. When it answers, the commit is durable and visible. A commit
   * that merges others has them as its further parents; one that is not in the repository is a `ValidationError`.
   */
  readonly commit: (
    branch: string,
    expected: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Committed, WriteFailure>

  /**
   * The next commit of a branch: takes the branch's turn in this process, runs `edit` with a snapshot of what the
   * commit will stand on (which may be a commit of this process that is not yet durable; its objects can be read
   * through this service), and makes the commit. An edit that makes none gives the turn back and writes nothing; it
   * may run more than once, and what it answers counts only for the snapshot that it was last given. Answers once the
   * commit is durable; commits of waiting callers share one flush where the remote can. `RefMoved` when what the edit
   * read did not hold: call it again. `edit` may not call `commit` or `commitNext`; its `verify` may.
   */
  readonly commitNext: <A, E>(
    branch: string,
    edit: (snapshot: RemoteSnapshot) => Effect.Effect<Edited<A, E>, E>
  ) => Effect.Effect<
    { readonly committed: Option.Option<Pick<Committed, "commit" | "blobs">>; readonly result: A },
    E | WriteFailure
  >

  /** Commits that changed `path` ("" for all), newest first, reached from `at`, `limit` at most. Follows no renames. */
  readonly log: (
    at: Head | Oid,
    path: string,
    options?: { readonly limit?: number | undefined }
  ) => Stream.Stream<CommitInfo, RemoteFailure>

  /** The commit with this id; none where the repository has none. */
  readonly commitInfo: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, RemoteFailure>

  /**
   * Every path whose file differs, in content or in mode, between two commits or trees (none: the empty tree), below `under`. Complete, whatever its size.
   */
  readonly diff: (
    before: Option.Option<Head | Oid>,
    after: Head | Oid,
    options?: { readonly under?: string | undefined }
  ) => Effect.Effect<ReadonlyArray<PathChange>, RemoteFailure>

  /** Whether the first commit is the second one or in its history. */
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, RemoteFailure>

  /**
   * All best common ancestors of two commits, ordered by id: those that no other common ancestor descends from. Several
   * where histories cross, none where they are unrelated.
   */
  readonly mergeBases: (a: Oid, b: Oid) => Effect.Effect<ReadonlyArray<Oid>, RemoteFailure>

  /**
   * Fails with `RefMoved` when the branch exists. `unique` says that nobody else can choose this name: a branch that
   * exists at the commit is then one whose creation was delivered twice, and a success. `temporary` says that nobody
   * else has to see the branch: a remote may keep it to itself until `moveBranches` is refused with it, and with this
   * process it is gone then.
   */
  readonly createBranch: (
    branch: string,
    at: Oid,
    options?: { readonly unique?: boolean | undefined; readonly temporary?: boolean | undefined }
  ) => Effect.Effect<void, WriteFailure>
  /** Deleting what is gone is success. */
  readonly deleteBranch: (branch: string) => Effect.Effect<void, RemoteFailure>
  /** The branches whose names begin with the prefix, by name. */
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

  /** Left out by remotes whose host has none, or that do not speak with it. */
  readonly pullRequests?: PullRequests

  /** Room for what is too large for memory. Absent where there is no disk: the store then keeps it in memory. */
  readonly temporaryFile?: Effect.Effect<TemporaryFile, RemoteFailure, Scope.Scope>

  /** What is to be said of the repository's own files, where the remote can see them. Absent where it cannot. */
  readonly health?: Effect.Effect<ReadonlyArray<HealthFinding>, RemoteFailure>

  /** What is known of the rate limit, without a charged request. None where there is none. */
  readonly budget: Effect.Effect<ReadonlyArray<Budget>, RemoteFailure>
  /** Requests that an operation will take. Zero on remotes without requests. */
  readonly estimate: (operation: Estimate) => number

  /** Forgets what is remembered of heads and trees of mutable names. */
  readonly invalidate: Effect.Effect<void>
}

/**
 * The repository that a store is written against.
 *
 * @since 0.1.0
 * @category services
 */
export class GitRemote extends Context.Tag("chainstore/store/GitRemote")<GitRemote, GitRemoteService>() {}

/**
 * Whether reads of a remote take requests, so that looking twice is to be avoided.
 *
 * @since 0.1.0
 * @category utilities
 */
export const takesRequests = (remote: Pick<GitRemoteService, "estimate">): boolean =>
  remote.estimate({ _tag: "Read", documents: 1 }) > 0
