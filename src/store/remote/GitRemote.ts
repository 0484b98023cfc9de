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
 * Which of repository and branch exist, and whether the caller may write.
 *
 * @since 0.1.0
 * @category models
 */
export interface Probe {
  /** Whether the repository exists, and whether it has any commit. */
  readonly repository: "present" | "empty" | "absent"
  /** Whether the branch exists. */
  readonly branch: boolean
  /** The default branch of the repository; none if it has none. */
  readonly defaultBranch: Option.Option<string>
  /** Whether the caller may write; none if the remote does not report it, or was not asked. */
  readonly write: Option.Option<boolean>
  /** What the user can do if something is missing. */
  readonly hint?: string | undefined
}

/**
 * The last known state of a rate limit, per resource (`core`, `graphql`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Budget {
  /** The name of the limit: `core`, `graphql`, or another name that the host uses. */
  readonly resource: string
  /** Requests, or GraphQL points, allowed in one window. */
  readonly limit: number
  /** Requests or points left in this window. */
  readonly remaining: number
  /** Requests or points used in this window. */
  readonly used: number
  /** Seconds since the epoch. */
  readonly reset: number
  /** `reset` as a date. */
  readonly resetAt: Date
}

/**
 * An operation whose number of requests can be estimated before it runs.
 *
 * @since 0.1.0
 * @category models
 */
export type Estimate =
  | { readonly _tag: "Read"; readonly documents: number }
  | { readonly _tag: "List"; readonly entries: number }
  | { readonly _tag: "Commit"; readonly changes: number; readonly bytes: number; readonly warm: boolean }
  | { readonly _tag: "PutFile"; readonly bytes: number; readonly warm: boolean }
  /** A proposal whose edits are one commit. */
  | {
      readonly _tag: "Propose"
      readonly changes: number
      readonly bytes: number
      readonly warm: boolean
      readonly labels?: number | undefined
    }
  /** An index file, and the check that it belongs to the current documents. */
  | { readonly _tag: "Lookup" }

/**
 * A commit that this client has just created, as far as the host's reply describes it.
 *
 * @since 0.1.0
 * @category models
 */
export interface CreatedCommit {
  /** The id of the commit. */
  readonly commit: Oid
  /** Its tree; none if the reply does not contain it. */
  readonly tree: Option.Option<Oid>
  /** Its parents; undefined if the reply does not contain them. */
  readonly parents: ReadonlyArray<Oid> | undefined
  /** The blob ids of the files that the commit wrote, by path. */
  readonly blobs: ReadonlyMap<string, Oid>
}

/**
 * The result of checking a commit after it was created. `valid`: nothing to do. `amended`: a second commit corrected
 * it. `reverted`: a second commit undid it, and the edit has to run again.
 *
 * @since 0.1.0
 * @category models
 */
export type CommitVerdict = "valid" | "amended" | "reverted"

/**
 * What an edit returns for a snapshot.
 *
 * @since 0.1.0
 * @category models
 */
export interface EditResult<A, E> {
  /** The commit to create; none if there is nothing to write. */
  readonly commit: Option.Option<NewCommit>
  /** The value that `commitNext` returns beside the commit. */
  readonly result: A
  /**
   * Checks a commit whose only precondition was the blob of the one file that it changes. Other reads of the edit were
   * not part of the precondition and may have been outdated. Runs to its end even if the caller is interrupted.
   */
  readonly verifyCommit?: ((created: CreatedCommit) => Effect.Effect<CommitVerdict, E>) | undefined
}

/**
 * A conditional update of one branch, as part of an update of several branches.
 *
 * @since 0.1.0
 * @category models
 */
export interface BranchMove {
  /** The short name of the branch. */
  readonly branch: string
  /** The commit that the branch must point to; none: the branch must not exist. */
  readonly from: Option.Option<Oid>
  /** The commit that the branch points to afterwards; none: the branch is deleted. */
  readonly to: Option.Option<Oid>
}

/**
 * One Git repository, whatever stores it and whatever protocol reaches it. Branch names are short (`main`). Effects have
 * no requirements and are safe to interrupt: an interrupted write takes effect completely or not at all.
 *
 * A remote that guarantees less than this interface documents the exception, and names it in its contract tests.
 *
 * @since 0.1.0
 * @category models
 */
export interface GitRemoteService extends CommitReads {
  /** A stable name, such as `https://api.github.com/owner/name`. Cache keys start with it. */
  readonly name: string
  /** `owner/name`, if the repository has one. */
  readonly repo?: string | undefined

  /**
   * Reports whether repository and branch exist. Something absent is not a failure. With `rights`, also whether they may be
   * written, which may take a request of its own.
   */
  readonly probe: (
    branch: string,
    options?: { readonly rights?: boolean | undefined }
  ) => Effect.Effect<Probe, RemoteFailure>

  /** The current head of the branch; none if it does not exist. Never older than the last write of this process. */
  readonly head: (branch: string) => Effect.Effect<Option.Option<Head>, RemoteFailure>

  /** The current state of the branch. Never older than the last write of this process. */
  readonly snapshot: (branch: string) => RemoteSnapshot

  /** The commit that `resolve` finds. A full id is assumed to be that of a commit until a read finds nothing. */
  readonly snapshotAt: (ref: string) => RemoteSnapshot

  /**
   * Fetches blobs that are read next, in as few requests as possible, into the remote's storage on disk. Absent on remotes
   * that have no such storage.
   */
  readonly prefetchBlobs?: (oids: ReadonlyArray<Oid>) => Effect.Effect<void, RemoteFailure>

  /** The tree id that the directory `path` has after `changes` to the tree of `at`; none if it becomes empty. */
  readonly treeAfter: (
    at: Option.Option<Head>,
    path: string,
    changes: ReadonlyArray<Change>
  ) => Effect.Effect<Option.Option<Oid>, RemoteFailure>

  /**
   * Creates one commit on `expected` and moves the branch to it, atomically. `expected: none`: the branch must not exist;
   * the repository may be empty. Fails with `RefMoved` if the branch points to another commit. When it succeeds, the
   * commit is durable and visible. The `merges` of the commit become its further parents; a merged commit that is not
   * in the repository is a `ValidationError`. A file that would take the place of a directory or a submodule of the
   * parent, or is below a file of it, is a `ValidationError`.
   */
  readonly commit: (
    branch: string,
    expected: Option.Option<Head>,
    commit: NewCommit
  ) => Effect.Effect<Committed, WriteFailure>

  /**
   * Creates the next commit of a branch. Waits until no other caller of this process commits to the branch, runs `edit`
   * with a snapshot of the parent of the new commit, and creates the commit. The parent may be a commit of this process
   * that is not durable yet; its objects can be read through this service. An edit without a commit writes nothing.
   *
   * `edit` may run more than once; only its last result counts. Succeeds when the commit is durable. Commits of waiting
   * callers may share one flush. Fails with `RefMoved` if something that the edit has read has changed: call `commitNext`
   * again. `edit` must not call `commit` or `commitNext`; `verifyCommit` may.
   */
  readonly commitNext: <A, E>(
    branch: string,
    edit: (snapshot: RemoteSnapshot) => Effect.Effect<EditResult<A, E>, E>
  ) => Effect.Effect<
    { readonly committed: Option.Option<Pick<Committed, "commit" | "blobs">>; readonly result: A },
    E | WriteFailure
  >

  /** The commits reachable from `at` that changed `path` ("": all commits), newest first. Renames are not followed. */
  readonly log: (
    at: Head | Oid,
    path: string,
    options?: { readonly limit?: number | undefined }
  ) => Stream.Stream<CommitInfo, RemoteFailure>

  /** The commit with this id; none if it does not exist. */
  readonly commitInfo: (oid: Oid) => Effect.Effect<Option.Option<CommitInfo>, RemoteFailure>

  /**
   * Every path below `under` whose file differs in content or mode between two commits or trees (none: the empty tree).
   * Complete, whatever its size.
   */
  readonly diff: (
    before: Option.Option<Head | Oid>,
    after: Head | Oid,
    options?: { readonly under?: string | undefined }
  ) => Effect.Effect<ReadonlyArray<PathChange>, RemoteFailure>

  /** Whether `ancestor` is `descendant` or a commit in its history. */
  readonly isAncestor: (ancestor: Oid, descendant: Oid) => Effect.Effect<boolean, RemoteFailure>

  /**
   * All best common ancestors of two commits, ordered by id. Criss-cross histories have several, unrelated histories
   * have none.
   */
  readonly mergeBases: (a: Oid, b: Oid) => Effect.Effect<ReadonlyArray<Oid>, RemoteFailure>

  /**
   * Fails with `RefMoved` if the branch exists. `unique`: no other process uses this name, so an existing branch at `at`
   * means that the request was delivered twice, which is a success. `temporary`: no other process has to see the branch.
   * A remote may keep it in this process until `moveBranches` fails with it, and it disappears with the process.
   */
  readonly createBranch: (
    branch: string,
    at: Oid,
    options?: { readonly unique?: boolean | undefined; readonly temporary?: boolean | undefined }
  ) => Effect.Effect<void, WriteFailure>
  /** Deleting a branch that does not exist succeeds. */
  readonly deleteBranch: (branch: string) => Effect.Effect<void, RemoteFailure>
  /** The branches whose names begin with the prefix, ordered by name. */
  readonly listBranches: (
    prefix: string
  ) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly commit: Oid }>, RemoteFailure>
  /** Fast-forwards a branch. Fails with `RefMoved` if it is not at `from`, or if `to` does not descend from `from`. */
  readonly advance: (branch: string, from: Oid, to: Oid) => Effect.Effect<void, WriteFailure>

  /**
   * Creates, fast-forwards and deletes several branches in one transaction. Fails with `RefMoved`, which names a branch
   * that is not at `from`, or whose `to` does not descend from `from`. Absent on remotes without such a transaction. A
   * host that turns out not to support it causes a `RemoteError` with the reason `Unsupported`; no branch has moved then.
   */
  readonly moveBranches?: (moves: ReadonlyArray<BranchMove>) => Effect.Effect<void, WriteFailure>

  /** Absent if the host has no pull requests, or the remote does not use the host's API. */
  readonly pullRequests?: PullRequests

  /** A temporary file for data that is too large for memory. Absent without a disk: the store then uses memory. */
  readonly temporaryFile?: Effect.Effect<TemporaryFile, RemoteFailure, Scope.Scope>

  /** Problems of the repository's files on disk. Absent if the remote cannot access them. */
  readonly health?: Effect.Effect<ReadonlyArray<HealthFinding>, RemoteFailure>

  /** The known state of the rate limits, without a charged request. Empty if there are none. */
  readonly budget: Effect.Effect<ReadonlyArray<Budget>, RemoteFailure>
  /** How many requests an operation needs. Zero on remotes without requests. */
  readonly estimate: (operation: Estimate) => number

  /** Empties the caches of branch heads, and of files and directories read by branch name. */
  readonly invalidate: Effect.Effect<void>
}

/**
 * The Git repository of a store.
 *
 * @since 0.1.0
 * @category services
 */
export class GitRemote extends Context.Tag("chainstore/store/GitRemote")<GitRemote, GitRemoteService>() {}

/**
 * Whether reads of a remote need requests, so that repeated reads are worth avoiding.
 *
 * @since 0.1.0
 * @category utilities
 */
export const takesRequests = (remote: Pick<GitRemoteService, "estimate">): boolean =>
  remote.estimate({ _tag: "Read", documents: 1 }) > 0
