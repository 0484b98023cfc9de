import type * as Effect from "effect/Effect"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { Branch } from "../Branches.js"
import type { HistoryEntry, ReadError, WriteError } from "../Collection.js"
import type { Proposal, ProposalState } from "../Proposals.js"

/**
 * One document as it was on one side of a comparison, and on the other: null where it is missing.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentChange {
  /** The collection of the document. */
  readonly collection: string
  /** The id of the document. */
  readonly id: string
  /** What became of it. */
  readonly kind: "added" | "changed" | "removed"
  /** The document before. */
  readonly before: JsonObject | null
  /** The document after. */
  readonly after: JsonObject | null
  /** Whether one of the two is a file that holds no readable document. */
  readonly unreadable: boolean
}

/**
 * A page of the documents in which two commits differ.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentChanges {
  /** How many documents differ altogether. */
  readonly total: number
  /** Those of this page, by collection and id. */
  readonly documents: ReadonlyArray<DocumentChange>
}

/**
 * What a revert would write.
 *
 * @since 0.1.0
 * @category models
 */
export interface RevertPreview {
  /** The documents that it changes back: as they are, and as they would be. */
  readonly documents: ReadonlyArray<DocumentChange>
  /** How many documents it changes altogether. */
  readonly total: number
  /** How many index and manifest files it changes. */
  readonly derived: number
  /** Why it would be refused; null where it would not. */
  readonly problem: string | null
}

/**
 * A field of a document, or a whole file, that two branches have changed differently. A side that is missing there is
 * undefined.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergeChoice {
  /** The field, by names and places in lists; empty for the whole of it. */
  readonly path: ReadonlyArray<string | number>
  /** The value where the branches parted. */
  readonly base?: Json | undefined
  /** On the branch that is merged into. */
  readonly ours?: Json | undefined
  /** On the branch that is merged. */
  readonly theirs?: Json | undefined
}

/**
 * A conflict that keeps two branches from being merged, and what is to be chosen in it.
 *
 * @since 0.1.0
 * @category models
 */
export interface BranchConflict {
  /** The file in the repository. */
  readonly path: string
  /** What is wrong, in words. */
  readonly problem: string
  /** Stands for both versions: a decision counts for these alone. */
  readonly digest: string
  /** What is to be chosen, one by one. */
  readonly choices: ReadonlyArray<MergeChoice>
}

/**
 * What somebody has decided of one conflict.
 *
 * @since 0.1.0
 * @category models
 */
export interface ConflictDecision {
  /** The `path` of the conflict. */
  readonly path: string
  /** The `digest` of the conflict, as it was shown. */
  readonly digest: string
  /** A side for each of its choices. */
  readonly take: ReadonlyArray<"ours" | "theirs">
}

/**
 * What a merge of a branch would do.
 *
 * @since 0.1.0
 * @category models
 */
export interface MergePreview {
  /** `upToDate`: everything was merged already; `fastForward`: the branch has nothing of its own. */
  readonly kind: "merge" | "fastForward" | "upToDate"
  /** The documents that it changes. */
  readonly documents: ReadonlyArray<{
    readonly collection: string
    readonly id: string
    readonly kind: "added" | "changed" | "removed"
  }>
  /** How many documents it changes altogether. */
  readonly total: number
  /** The conflicts that nobody has decided. */
  readonly conflicts: ReadonlyArray<BranchConflict>
}

/**
 * What accepting a proposal would do.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProposalPreview extends MergePreview {
  /** The commit of the proposal that was looked at, which `acceptProposal` takes. */
  readonly commit: string
}

/**
 * The history and the branches of a repository as people look at them; `R` and `W` are how reads and writes fail.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeline<R = ReadError, W = WriteError> {
  /** The newest commits of the branch, whatever they changed. */
  readonly commits: (limit: number) => Effect.Effect<ReadonlyArray<HistoryEntry>, R>
  /** A page of the documents that a commit changed. */
  readonly changes: (commit: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** What a revert of a commit would write. */
  readonly previewRevert: (commit: string) => Effect.Effect<RevertPreview, R>
  /** Undoes a commit by a new one, and returns that. */
  readonly revert: (commit: string) => Effect.Effect<string, W>
  /** The branches of the repository, by name. */
  readonly branches: Effect.Effect<ReadonlyArray<Branch>, R>
  /** Makes a branch at a commit, a tag or a branch, and returns the commit. */
  readonly createBranch: (name: string, from: string) => Effect.Effect<string, W>
  /** A page of the documents in which a branch differs from the one that is shown, as both are now. */
  readonly compare: (branch: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** What a merge of a branch into the one that is shown would do, once what was decided is. */
  readonly previewMerge: (
    branch: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<MergePreview, W>
  /** Merges a branch into the one that is shown; null where there was nothing to merge. Undecided conflicts fail it. */
  readonly merge: (
    branch: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<string | null, W>
  /** The proposals of the repository that are in a state, oldest first, for whatever branch they are made. */
  readonly proposals: (state: ProposalState) => Effect.Effect<ReadonlyArray<Proposal>, R>
  /** A page of the documents that a proposal changes, or has changed where it is accepted. */
  readonly compareProposal: (id: string, offset: number) => Effect.Effect<DocumentChanges, R>
  /** What accepting a proposal would do, once what was decided is. */
  readonly previewProposal: (
    id: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<ProposalPreview, W>
  /**
   * Accepts a proposal that is at a commit, the one that was looked at; null where there was nothing to merge. Undecided
   * conflicts fail it.
   */
  readonly acceptProposal: (
    id: string,
    commit: string,
    decisions: ReadonlyArray<ConflictDecision>
  ) => Effect.Effect<string | null, W>
  /** Turns a proposal down. */
  readonly closeProposal: (id: string) => Effect.Effect<Proposal, W>
}
