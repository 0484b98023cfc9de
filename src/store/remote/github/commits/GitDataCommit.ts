import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { RefMoved } from "../../../../domain/errors/RefMoved.js"
import { ValidationError } from "../../../../domain/errors/StoreError.js"
import { branchRef } from "../../../../git/Names.js"
import { withMark } from "../../CommitMark.js"
import type { Head, NewCommit } from "../../GitRemote.js"
import * as Api from "../api/Api.js"
import { isKind } from "../client/ApiFailure.js"
import type { Client } from "../client/Client.js"
import type { ErrorContext } from "../client/ErrorTranslation.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { TreeReader } from "../objects/TreeReader.js"
import type { RefWrites } from "../refs/RefWrites.js"
import type { CommitFailure } from "./CommitFailure.js"
import { writeTree } from "./TreeWrites.js"

/** Commits by the Git Data API: blobs, trees, a commit object, and the update of the ref. */
export interface GitDataCommit {
  /** Creates the tree and the commit object. No branch points to the commit yet. */
  readonly build: (parent: Option.Option<Head>, commit: NewCommit) => Effect.Effect<Head, CommitFailure>
  readonly commit: (
    context: ErrorContext,
    branch: string,
    parent: Head,
    commit: NewCommit
  ) => Effect.Effect<Head, CommitFailure>
}

interface Dependencies {
  readonly client: Client
  readonly cachedTrees: CachedTrees
  readonly refs: RefWrites
  readonly trees: TreeReader
}

export const makeGitDataCommit = ({ cachedTrees, client, refs, trees }: Dependencies): GitDataCommit => {
  const { settings } = client

  const modeIn = (parent: Head | undefined) => {
    const semaphore = Effect.unsafeMakeSemaphore(1)
    return (path: string) =>
      Effect.gen(function* () {
        if (parent === undefined) return undefined
        // An uncached directory is read once for all files that are removed from it.
        if (cachedTrees.entryAt(parent, path) === undefined) {
          yield* trees.list(parent, path.slice(0, Math.max(path.lastIndexOf("/"), 0)), false)
        }
        return Option.getOrUndefined(cachedTrees.entryAt(parent, path) ?? Option.none())?.mode
      }).pipe(semaphore.withPermits(1))
  }

  const build: GitDataCommit["build"] = (parent, commit) =>
    Effect.gen(function* () {
      const base = Option.getOrUndefined(parent)
      const tree = (yield* writeTree(client, base?.tree, modeIn(base), commit.changes)) ?? base?.tree
      if (tree === undefined) {
        return yield* new ValidationError({
          operation: "GitRemote.commit",
          message: "a first commit needs a file"
        })
      }
      const reply = yield* client.call(Api.createCommit, {
        path: {},
        body: {
          message: yield* withMark(commit.message),
          tree,
          parents: [...(base === undefined ? [] : [base.commit]), ...(commit.merges ?? [])],
          author: commit.author ?? settings.author,
          committer: commit.committer ?? settings.committer
        }
      })
      const created = Option.getOrThrow(reply.value)
      return { commit: created.sha, tree: created.tree.sha }
    })

  /** A commit that is not in the repository any more is not the head of the branch. */
  const buildOn = (branch: string, parent: Head, commit: NewCommit): Effect.Effect<Head, CommitFailure> =>
    Effect.catchIf(
      build(Option.some(parent), commit),
      (error) => (commit.merges ?? []).length === 0 && isKind("BaseMissing")(error),
      () =>
        Effect.fail(
          new RefMoved({
            ref: branchRef(branch),
            expected: Option.some(parent.commit),
            actual: Option.none()
          })
        )
    )

  return {
    build,
    commit: (context, branch, parent, commit) =>
      Effect.tap(buildOn(branch, parent, commit), (created) =>
        refs.move(context, branch, parent.commit, created.commit)
      )
  }
}
