import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ValidationError } from "../../../../domain/errors/StoreError.js"
import * as GitObject from "../../../../git/GitObject.js"
import { changedPathsError, fileBlocksDirectory, notAFile } from "../../../../git/TreeEdit.js"
import type { Change, Committed, Head, NewCommit } from "../../GitRemote.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import type { Settings } from "../client/Options.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { touchedDirectories } from "../objects/ListingEdit.js"
import type { BranchSnapshot } from "../reads/BranchSnapshots.js"
import type { CommitFailure } from "./CommitFailure.js"
import type { GitDataCommit } from "./GitDataCommit.js"

/*
 * The carrier of a commit: how it travels to GitHub. The first one of this list that fits is used.
 *
 * - `ContentsCommit`: one request of the Contents API, if the edit read only the one file that it changes, by branch name.
 *   The precondition is the blob of that file, so the head need not be known.
 * - `FirstCommit`: the branch does not exist yet.
 * - `GraphqlCommit`: one `createCommitOnBranch` mutation, with `commitVia: "graphql"`. It supports no links, merges or authors.
 * - `GitDataCommit`: trees, a commit object and the update of the ref.
 *
 * With `commitVia: "push"` none of these is used: `push/PushRemote.ts` replaces the commit operations.
 */

/** The largest sum of file sizes that the mutation accepted in tests: about 40 MB of base64. */
const maxGraphqlBytes = 25_000_000

const fitsGraphql = (commit: NewCommit) =>
  (commit.merges ?? []).length === 0 &&
  commit.author === undefined &&
  commit.committer === undefined &&
  commit.changes.length > 0 &&
  commit.changes.every(
    (change) => change._tag === "Remove" || (change._tag === "Put" && change.replacesSubmodule !== true)
  ) &&
  commit.changes.reduce((sum, change) => sum + (change._tag === "Put" ? change.content.length : 0), 0) <=
    maxGraphqlBytes

const fitsContents = (
  settings: Settings,
  { filesByName, readDirectories }: BranchSnapshot,
  { changes: [change, ...others], merges = [] }: NewCommit
): boolean =>
  others.length === 0 &&
  merges.length === 0 &&
  change !== undefined &&
  change._tag !== "Link" &&
  filesByName.size === 1 &&
  filesByName.has(change.path) &&
  !readDirectories() &&
  (change._tag === "Remove" || change.content.length <= settings.contentsMaxBytes)

/** Whether the carrier of an edit's commit needs the head of the branch, so that the edit has to run on that head. */
export const needsHead = (settings: Settings, snapshot: BranchSnapshot, commit: NewCommit): boolean =>
  !snapshot.isPinned() && !fitsContents(settings, snapshot, commit)

interface Dependencies {
  readonly settings: Settings
  readonly cachedTrees: CachedTrees
  readonly gitData: GitDataCommit
  readonly viaGraphql: GitDataCommit["commit"]
  readonly firstCommit: (
    context: ErrorContext,
    branch: string,
    commit: NewCommit
  ) => Effect.Effect<Head, CommitFailure>
}

/** Sends a commit on a known parent by the carrier that fits. */
export type SendCommit = (
  context: ErrorContext,
  branch: string,
  parent: Option.Option<Head>,
  commit: NewCommit
) => Effect.Effect<Committed, CommitFailure>

export const makeSendCommit = ({
  cachedTrees,
  firstCommit,
  gitData,
  settings,
  viaGraphql
}: Dependencies): SendCommit => {
  /**
   * GitHub replaces a file by a directory, a directory by a file, and a submodule by either, without an error. Such a change
   * is refused if the trees of the parent are cached, or the path was read as a file.
   */
  const replacementError = (
    parent: Option.Option<Head>,
    changes: ReadonlyArray<Change>
  ): ValidationError | undefined => {
    if (Option.isNone(parent)) return undefined
    const removed = new Set(changes.flatMap(({ _tag, path }) => (_tag === "Remove" ? [path] : [])))
    for (const path of touchedDirectories(changes.filter(({ _tag }) => _tag !== "Remove"))) {
      if (path === "" || removed.has(path)) continue
      const entry = Option.getOrUndefined(cachedTrees.entryAt(parent.value, path) ?? Option.none())
      if (entry !== undefined && entry.kind !== "tree") return fileBlocksDirectory("GitRemote.commit", path)
    }
    const isEmptied = (path: string) => [...removed].some((other) => other.startsWith(`${path}/`))
    for (const change of changes) {
      if (change._tag === "Remove") continue
      const kind = cachedTrees.notAFile(parent.value, change.path)
      const mayReplace =
        kind === "tree" ? isEmptied(change.path) : change._tag === "Link" || change.replacesSubmodule === true
      if (kind !== undefined && !mayReplace) return notAFile("GitRemote.commit", change.path, kind)
    }
    return undefined
  }

  const send = (
    context: ErrorContext,
    branch: string,
    parent: Option.Option<Head>,
    commit: NewCommit
  ): Effect.Effect<Head, CommitFailure> => {
    if (Option.isNone(parent)) return firstCommit(context, branch, commit)
    return settings.commitVia === "graphql" && fitsGraphql(commit)
      ? viaGraphql(context, branch, parent.value, commit)
      : gitData.commit(context, branch, parent.value, commit)
  }

  return (context, branch, parent, commit) =>
    Effect.gen(function* () {
      const problem =
        changedPathsError("GitRemote.commit", commit.changes) ?? replacementError(parent, commit.changes)
      if (problem !== undefined) return yield* problem
      const created = yield* send(context, branch, parent, commit)
      const blobs = new Map(
        commit.changes.flatMap((change) =>
          change._tag === "Put" ? [[change.path, GitObject.hash("blob", change.content)] as const] : []
        )
      )
      return { ...created, blobs }
    })
}
