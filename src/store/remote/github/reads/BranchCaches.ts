import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BranchMove, Change, Committed, Head } from "../../GitRemote.js"
import type { BranchHeads } from "../heads/BranchHeads.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import type { BranchSnapshots } from "./BranchSnapshots.js"
import type { FileReader } from "./FileReader.js"

export interface BranchCachesOptions {
  readonly branches: BranchHeads
  readonly files: FileReader
  readonly known: CachedTrees
  readonly snapshots: BranchSnapshots
}

/** What writes of ours have done to branches, so that answers which do not know it yet are known to be old. */
export const makeBranchCaches = ({ branches, files, known, snapshots }: BranchCachesOptions) => ({
  /** A commit of ours; false where one that stands on it was answered first. */
  commit: (
    branch: string,
    parent: Option.Option<Head>,
    changes: ReadonlyArray<Change>,
    made: Committed,
    begun: number
  ): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      for (const change of changes) {
        const before = Option.isNone(parent) ? Option.none() : known.entryAt(parent.value, change.path)
        const after =
          change._tag === "Remove"
            ? Option.none()
            : Option.fromNullable(change._tag === "Link" ? change.oid : made.blobs.get(change.path))
        files.forgetValidator(branch, change.path)
        const was = before === undefined ? undefined : Option.map(before, (entry) => entry.oid)
        yield* branches.recordFileWrite(branch, change.path, was, after, begun)
      }
      const from = Option.map(parent, (at) => at.commit)
      const isLast = yield* branches.recordMove(
        branch,
        from,
        { ...made, tree: Option.some(made.tree) },
        begun
      )
      if (isLast) snapshots.advance(branch, made)
      else snapshots.forgetBranch(branch)
      return isLast
    }),

  /** What was seen of a branch that comes to where another one is, is copied before that one is gone. */
  moves: (moves: ReadonlyArray<BranchMove>, begun: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (const { branch, to } of moves) if (Option.isSome(to)) snapshots.copyReads(branch, to.value)
      for (const { branch, from, to } of moves) {
        const at = Option.map(to, (commit) => ({ commit, tree: known.rootAt(commit) }))
        const isLast = yield* branches.recordMove(branch, from, Option.getOrUndefined(at), begun)
        if (!isLast || Option.isNone(to)) snapshots.forgetBranch(branch)
      }
    }),

  /** What was seen of a branch is old once a write may have moved it, unknown to us. */
  carefully:
    (branch: string) =>
    <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      snapshots.forgetOnFailure(branch)(branches.forgetOnFailure(branch)(self))
})

export type BranchCaches = ReturnType<typeof makeBranchCaches>
