import type * as Effect from "effect/Effect"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Branch } from "../Branches.js"
import type { HistoryEntry, ReadError, WriteError } from "../Collection.js"
import type { Proposal, ProposalState } from "../Proposals.js"
import type { Overview } from "./Overview.js"

/**
 * The two versions of a document in a comparison.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentChange {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** The kind of the change. */
  readonly kind: "added" | "changed" | "removed"
  /** The document before the change; null if it does not exist. */
  readonly before: JsonObject | null
  /** The document after the change; null if it does not exist. */
  readonly after: JsonObject | null
  /** Whether one of the two files contains no readable document. */
  readonly unreadable: boolean
}

/**
 * A page of the documents that differ between two commits.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentChanges {
  /** The total number of documents that differ. */
  readonly total: number
  /** The documents of this page, by collection and id. */
  readonly documents: ReadonlyArray<DocumentChange>
}

/**
 * The preview of a revert.
 *
 * @since 0.1.0
 * @category models
 */
export interface RevertPreview {
  /** The documents that the revert changes: their current version and the reverted one. */
  readonly documents: ReadonlyArray<DocumentChange>
  /** The total number of documents that change. */
  readonly total: number
  /** The number of index and manifest files that change. */
  readonly derived: number
  /** Why the revert would fail; null if it would succeed. */
  readonly problem: string | null
}

/**
 * A field of a document, or a whole file, that two branches have changed differently. A missing value is undefined.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeChoice {
  /** The path of the field: names and indexes of lists. Empty for the whole file. */
  readonly path: ReadonlyArray<string | number>
  /** The value in the merge base. */
  readonly base?: Json | undefined
  /** The value on the target branch. */
  readonly ours?: Json | undefined
  /** The value on the merged branch. */
  readonly theirs?: Json | undefined
  /** The lines of two texts, or the items of two lists, those of the target first. Absent for other values. */
  readonly both?: Json | undefined
}

/**
 * A conflict between two branches, with the choices that resolve it.
 *
 * @since 0.1.0
 * @category models
 */
export interface BranchConflict {
  /** The file in the repository. */
  readonly path: string
  /** The problem, in words. */
  readonly problem: string
  /** A digest of both versions. A decision applies only to these versions. */
  readonly digest: string
  /** The choices, one for each field in conflict. */
  readonly choices: ReadonlyArray<MergeChoice>
}

/**
 * The decision about one conflict.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConflictDecision {
  /** The `path` of the conflict. */
  readonly path: string
  /** The `digest` of the conflict that was shown. */
  readonly digest: string
  /** For each choice the chosen side, or another value of the field. */
  readonly take: ReadonlyArray<"ours" | "theirs" | { readonly value: Json }>
}

/**
 * The preview of a merge.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergePreview {
  /** `upToDate`: everything is merged already. `fastForward`: the target has no commits of its own. */
  readonly kind: "merge" | "fastForward" | "upToDate"
  /** The documents that change. */
  readonly documents: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly kind: "added" | "changed" | "removed"
  }>
  /** The total number of documents that change. */
  readonly total: number
  /** The conflicts without a decision. */
  readonly conflicts: ReadonlyArray<BranchConflict>
}

/**
 * The preview of accepting a proposal.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProposalPreview extends MergePreview {
  /** The commit of the proposal that was previewed; the argument of `acceptProposal`. */
  readonly commit: string
}

/**
 * The history, branches and proposals of a repository, and its overview. `R` and `W` are the errors of reads and writes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeline<R = ReadError, W = WriteError> extends Overview<R> {
  /** The newest commits of the branch. */
  readonly commits: (limit: number) => Effect.Effect<ReadonlyArray<HistoryEntry>, R>
  /** A page of the documents that a commit changed. */
  readonly changes: (commit: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** Previews the revert of a commit. */
  readonly previewRevert: (commit: string) => Effect.Effect<RevertPreview, R>
  /** Reverts a commit by a new commit, and returns the id of the new one. */
  readonly revert: (commit: string) => Effect.Effect<string, W>
  /** The branches of the repository, by name. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>, R>
  /** Creates a branch at a commit, tag or branch, and returns the commit id. */
  readonly createBranch: (name: string, from: string) => Effect.Effect<string, W>
  /** A page of the documents that differ between the heads of a branch and of the current branch. */
  readonly compare: (branch: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** Previews the merge of a branch into the current one with these decisions. */
  readonly previewMerge: (
    branch: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<MergePreview, W>
  /** Merges a branch into the current one; null if there was nothing to merge. Fails for a conflict without a decision. */
  readonly merge: (
    branch: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<string | null, W>
  /** The proposals of the repository in a state, for all branches, oldest first. */
  readonly proposals: (state: ProposalState) => Effect.Effect<ReadonlyArray<Proposal>, R>
  /** A page of the documents that a proposal changes, or has changed if it is accepted. */
  readonly compareProposal: (id: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** Previews accepting a proposal with these decisions. */
  readonly previewProposal: (
    id: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<ProposalPreview, W>
  /**
   * Accepts a proposal if it is still at the commit that was previewed; null if there was nothing to merge. Fails for a
   * conflict without a decision.
   */
  readonly acceptProposal: (
    id: string,
    commit: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<string | null, W>
  /** Closes a proposal without merging it. */
  readonly closeProposal: (id: string) => Effect.Effect<Proposal, W>
}
