import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { BranchMove, Change, Committed, Head } from "../../GitRemote.js"
import type { KnownTrees } from "../objects/KnownTrees.js"
import type { Branches } from "./Branches.js"
import type { BranchSnapshots } from "./BranchSnapshots.js"
import type { Files } from "./Files.js"

export interface RememberingParts {
  readonly branches: Branches
  readonly files: Files
  readonly known: KnownTrees
  readonly snapshots: BranchSnapshots
}

/** What writes of ours have done to branches, so that answers which do not know it yet are known to be old. */
export const makeRemembering = ({ branches, files, known, snapshots }: RememberingParts) => ({
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
        const before = Option.isNone(parent) ? Option.none() : known.locate(parent.value, change.path)
        const after =
          change._tag === "Remove"
            ? Option.none()
            : Option.fromNullable(change._tag === "Link" ? change.oid : made.blobs.get(change.path))
        files.forgetFile(branch, change.path)
        const was = before === undefined ? undefined : Option.map(before, (entry) => entry.oid)
        yield* branches.wroteFile(branch, change.path, was, after, begun)
      }
      const from = Option.map(parent, (at) => at.commit)
      const isLast = yield* branches.wrote(branch, from, { ...made, tree: Option.some(made.tree) }, begun)
      if (isLast) snapshots.committed(branch, made)
      else snapshots.forgetBranch(branch)
      return isLast
    }),

  /** What was seen of a branch that comes to where another one is, is copied before that one is gone. */
  moves: (moves: ReadonlyArray<BranchMove>, begun: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (const { branch, to } of moves) if (Option.isSome(to)) snapshots.movedTo(branch, to.value)
      for (const { branch, from, to } of moves) {
        const at = Option.map(to, (commit) => ({ commit, tree: known.rootAt(commit) }))
        const isLast = yield* branches.wrote(branch, from, Option.getOrUndefined(at), begun)
        if (!isLast || Option.isNone(to)) snapshots.forgetBranch(branch)
      }
    }),

  /** What was seen of a branch is old once a write may have moved it, unknown to us. */
  carefully:
    (branch: string) =>
    <A, E extends { readonly _tag: string }>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      snapshots.careful(branch)(branches.careful(branch)(self))
})

export type Remembering = ReturnType<typeof makeRemembering>
