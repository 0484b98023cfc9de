import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BranchMove, Change, Committed, Head } from "../../GitRemote.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { BranchSnapshots } from "./BranchSnapshots.js"
import type { FileReader } from "./FileReader.js"

export interface BranchCachesOptions {
  readonly branchHeads: BranchHeads
  readonly files: FileReader
  readonly cachedTrees: CachedTrees
  readonly snapshots: BranchSnapshots
}

/** Updates everything that is cached by branch name after a write of this process: heads, validators, recent reads. */
export interface BranchCaches {
  /** Records a commit. Returns false if a later commit, based on this one, was confirmed first. */
  readonly recordCommit: (
    branch: string,
    parent: Option.Option<Head>,
    changes: ReadonlyArray<Change>,
    created: Committed,
    begun: number
  ) => Effect.Effect<boolean>
  readonly recordMoves: (moves: ReadonlyArray<BranchMove>, begun: number) => Effect.Effect<void>
  /** Invalidates the caches of a branch if a write may have moved it without this process knowing. */
  readonly invalidateOnFailure: (
    branch: string
  ) => <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>) => Effect.Effect<A, E>
}

export const makeBranchCaches = ({
  branchHeads,
  cachedTrees,
  files,
  snapshots
}: BranchCachesOptions): BranchCaches => ({
  recordCommit: (branch, parent, changes, created, begun) =>
    Effect.gen(function* () {
      for (const change of changes) {
        const entry = Option.isNone(parent) ? Option.none() : cachedTrees.entryAt(parent.value, change.path)
        const before = entry === undefined ? undefined : Option.map(entry, ({ oid }) => oid)
        const after =
          change._tag === "Remove"
            ? Option.none()
            : Option.fromNullable(change._tag === "Link" ? change.oid : created.blobs.get(change.path))
        files.forgetValidator(branch, change.path)
        yield* branchHeads.recordFileWrite(branch, change.path, before, after, begun)
      }
      const from = Option.map(parent, (at) => at.commit)
      const to = { ...created, tree: Option.some(created.tree) }
      const isLast = yield* branchHeads.recordMove(branch, from, to, begun)
      if (isLast) snapshots.advance(branch, created)
      else snapshots.forgetBranch(branch)
      return isLast
    }),

  recordMoves: (moves, begun) =>
    Effect.gen(function* () {
      // Recent reads are copied before the branch that they belong to is deleted.
      for (const { branch, to } of moves) if (Option.isSome(to)) snapshots.copyReads(branch, to.value)
      for (const { branch, from, to } of moves) {
        const at = Option.map(to, (commit) => ({ commit, tree: cachedTrees.rootAt(commit) }))
        const isLast = yield* branchHeads.recordMove(branch, from, Option.getOrUndefined(at), begun)
        if (!isLast || Option.isNone(to)) snapshots.forgetBranch(branch)
      }
    }),

  invalidateOnFailure: (branch) => (self) =>
    snapshots.forgetOnFailure(branch)(branchHeads.forgetOnFailure(branch)(self))
})
