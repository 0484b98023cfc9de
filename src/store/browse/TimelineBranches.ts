import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RemoteError, Unmerged } from "../../domain/errors/StoreError.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { sha256 } from "../../git/Digest.js"
import type { Merged, Resolver } from "../Branches.js"
import type { BrowseOptions } from "./BrowseOptions.js"
import { samePath } from "./Difference.js"
import type { BranchConflict, ConflictDecision, MergePreview, Timeline } from "./Timeline.js"
import { pageOf } from "./TimelineReads.js"

/** The maximum number of documents that a preview lists. */
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
  // The problem is included because it names the setting, if the conflict is one of settings.
  const versions = [ours ?? null, theirs ?? null, choices.map((one) => one.path), problem]
  return { path, problem, digest: sha256(JSON.stringify(versions)), choices }
}

/** Resolves conflicts by the decisions. A decision applies only to the versions of its digest. */
export const resolver =
  (decisions: ReadonlyArray<ConflictDecision>): Resolver =>
  (conflict) => {
    const { choices, digest, path } = conflictOf(conflict)
    const decision = decisions.find((one) => one.path === path && one.digest === digest)
    if (decision === undefined || decision.take.length !== choices.length) return undefined
    const { take } = decision
    const [first] = choices
    if (conflict.kind !== "changed" || first === undefined || first.path.length === 0)
      return typeof take[0] === "string" ? take[0] : undefined
    return ({ path }) => take[choices.findIndex((choice) => samePath(choice.path, path))]
  }

const joining = lazyModule(() => import("./BothSides.js"))

/** Converts the result of a dry run. */
export const previewOf = ({ conflicts, documents, kind }: Merged): Effect.Effect<MergePreview, RemoteError> =>
  Effect.map(joining, ({ bothSides }) => ({
    kind,
    documents: documents.slice(0, mostNamed),
    total: documents.length,
    conflicts: conflicts.map((conflict) => {
      const found = conflictOf(conflict)
      const choices = found.choices.map((choice) => ({
        ...choice,
        both: bothSides(choice.path, choice.ours, choice.theirs)
      }))
      return { ...found, choices }
    })
  }))

/** Lists, compares and merges branches. */
export const makeTimelineBranches = ({
  store
}: BrowseOptions): Pick<Timeline, "branches" | "createBranch" | "compare" | "previewMerge" | "merge"> => ({
  branches: store.branches,
  createBranch: (name, from) => store.createBranch(name, { from }),
  compare: (branch, offset) => pageOf(store.compare(store.branch, branch, { against: "first" }), offset),
  previewMerge: (branch, decisions) =>
    Effect.flatMap(store.merge(branch, { dryRun: true, onConflict: resolver(decisions) }), previewOf),
  merge: (branch, decisions) =>
    Effect.map(store.merge(branch, { onConflict: resolver(decisions) }), ({ commitSha }) =>
      Option.getOrNull(commitSha)
    )
})
