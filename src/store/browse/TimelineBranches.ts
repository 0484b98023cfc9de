import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Unmerged } from "../../domain/errors/StoreError.js"
import { sha256 } from "../../git/Digest.js"
import type { Merged, Resolver } from "../Branches.js"
import type { BrowseOptions } from "./BrowseOptions.js"
import { samePath } from "./Difference.js"
import type { BranchConflict, ConflictDecision, MergePreview, Timeline } from "./Timeline.js"
import { pageOf } from "./TimelineReads.js"

/** Documents that a preview names. */
const mostNamed = 200

const choicesOf = (conflict: Unmerged): BranchConflict["choices"] => {
  const { base, conflicts, ours, theirs } = conflict
  if (conflict.kind === "changed" && conflict.document !== undefined && conflicts.length > 0) return conflicts
  return [{ path: [], base, ours, theirs }]
}

const conflictOf = (conflict: Unmerged): BranchConflict => {
  const { path, problem } = conflict
  const choices = choicesOf(conflict)
  const { ours, theirs } = "blobs" in conflict ? conflict.blobs : conflict
  // The problem names a setting.
  const versions = [ours ?? null, theirs ?? null, choices.map((one) => one.path), problem]
  return { path, problem, digest: sha256(JSON.stringify(versions)), choices }
}

/** Decides by what was decided, of the versions that it was decided of, and of no others. */
export const resolver =
  (decisions: ReadonlyArray<ConflictDecision>): Resolver =>
  (conflict) => {
    const { choices, digest, path } = conflictOf(conflict)
    const decision = decisions.find((one) => one.path === path && one.digest === digest)
    if (decision === undefined || decision.take.length !== choices.length) return undefined
    const [first] = choices
    if (conflict.kind !== "changed" || first === undefined || first.path.length === 0) return decision.take[0]
    return ({ path }) => decision.take[choices.findIndex((choice) => samePath(choice.path, path))]
  }

/** A dry run as people look at it. */
export const previewOf = ({ conflicts, documents, kind }: Merged): MergePreview => ({
  kind,
  documents: documents.slice(0, mostNamed),
  total: documents.length,
  conflicts: conflicts.map(conflictOf)
})

/** The branches of a repository, compared and merged. */
export const makeTimelineBranches = ({
  store
}: BrowseOptions): Pick<Timeline, "branches" | "createBranch" | "compare" | "previewMerge" | "merge"> => ({
  branches: store.branches,
  createBranch: (name, from) => store.createBranch(name, { from }),
  compare: (branch, offset) => pageOf(store.compare(store.branch, branch, { against: "first" }), offset),
  previewMerge: (branch, decisions) =>
    Effect.map(store.merge(branch, { dryRun: true, onConflict: resolver(decisions) }), previewOf),
  merge: (branch, decisions) =>
    Effect.map(store.merge(branch, { onConflict: resolver(decisions) }), ({ commitSha }) =>
      Option.getOrNull(commitSha)
    )
})
