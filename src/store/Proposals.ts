import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ReadError, WriteError } from "../domain/errors/StoreError.js"
import type { CompareOptions, DocumentDifference, Merged, MergeOptions } from "./Branches.js"
import type { WriteOptions } from "./Collection.js"
import type { Transaction } from "./Transaction.js"

/**
 * `open`: it can be accepted. `accepted`: its changes are merged into its target branch. `closed`: it was rejected.
 *
 * @since 0.1.0
 * @category models
 */
export type ProposalState = "open" | "accepted" | "closed"

/**
 * A proposed change: a branch with a title and a description.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposal {
  /** The id for `proposal`; a ULID. */
  readonly id: string
  /** `chainstore-proposal/<id>`. */
  readonly branch: string
  /** The target branch. */
  readonly into: string
  /** A summary in one line. */
  readonly title: string
  /** The reasons, in Markdown; may be empty. */
  readonly body: string
  /** `Name <email>`, or the account's name of a pull request. */
  readonly author: string
  /** Labels, as they were given. */
  readonly labels: ReadonlyArray<string>
  /** The current state of the branch, or of its pull request. */
  readonly state: ProposalState
  /** The head of the branch; of an accepted proposal, the commit that was merged. */
  readonly commitSha: string
  /** The number of the pull request, if there is one. */
  readonly number?: number | undefined
  /** Its page, if the remote has one. */
  readonly url?: string | undefined
}

/**
 * Options of `store.propose`.
 *
 * @since 0.1.0
 * @category options
 */
export interface ProposeOptions {
  /** One line. */
  readonly title: string
  /** The reasons, in Markdown. Default: empty. */
  readonly body?: string | undefined
  /** The target branch. Default: the branch of the store. */
  readonly into?: string | undefined
  /** Labels. A pull request gets them by another request. */
  readonly labels?: ReadonlyArray<string> | undefined
}

/**
 * Which proposals are listed.
 *
 * @since 0.1.0
 * @category options
 */
export interface ListProposalsOptions {
  /** Default `"open"`. */
  readonly state?: ProposalState | "all" | undefined
}

/**
 * How a proposal is merged.
 *
 * @since 0.1.0
 * @category options
 */
export type ProposalMergeOptions = Pick<MergeOptions, "onConflict" | "rules" | "collections" | "message">

/**
 * How a proposal is accepted.
 *
 * @since 0.1.0
 * @category options
 */
export interface AcceptOptions extends ProposalMergeOptions {
  /** The commit that was reviewed: the proposal is not accepted if its head is another one. */
  readonly commitSha?: string | undefined
}

/**
 * Writes on the branch of a proposal, which are not visible on other branches.
 *
 * @since 0.1.0
 * @category models
 */
export type Draft = Transaction

/**
 * A new or updated proposal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposed<A> {
  /** The result of the edits. */
  readonly result: A
  /** The proposal, including the edits. */
  readonly proposal: Proposal
}

/**
 * Makes edits on a new branch and proposes it. Edits that fail, are interrupted or write nothing leave no proposal.
 *
 * @example
 * ```ts
 * const { proposal } = yield* store.propose({ title: "Dearer tea" }, (draft) =>
 *   draft.collection("stock").update("tea", { price: 5 })
 * )
 * const { conflicts } = yield* store.proposal(proposal.id).preview()
 * if (conflicts.length === 0) yield* store.proposal(proposal.id).accept({ commitSha: proposal.commitSha })
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export type Propose = <A, E, R>(
  options: ProposeOptions,
  edits: (draft: Draft) => Effect.Effect<A, E, R>
) => Effect.Effect<Proposed<A>, E | WriteError, R>

/**
 * A proposal, by its id. If it does not exist, every operation fails with `NotFoundError`; if it is accepted or closed,
 * those that write fail with `ConflictError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProposalHandle {
  /** The proposal in its current state. */
  readonly get: () => Effect.Effect<Proposal, ReadError>
  /** The documents that it changes or, if it is accepted, has changed. */
  readonly compare: (options?: CompareOptions) => Stream.Stream<DocumentDifference, ReadError>
  /** The result that accepting it would have, with the conflicts that would prevent it. Writes nothing. */
  readonly preview: (options?: ProposalMergeOptions) => Effect.Effect<Merged, WriteError>
  /** Makes further edits, all or none of them. */
  readonly update: <A, E, R>(
    edits: (draft: Draft) => Effect.Effect<A, E, R>,
    options?: WriteOptions
  ) => Effect.Effect<Proposed<A>, E | WriteError, R>
  /** Merges the target branch into the proposal, which is `ours` here. */
  readonly rebase: (options?: ProposalMergeOptions) => Effect.Effect<Merged, WriteError>
  /**
   * Merges it into the target branch, as one commit with both as its parents. If only the host may write to the target
   * branch, that branch is merged into the proposal first, and the host merges the pull request.
   */
  readonly accept: (options?: AcceptOptions) => Effect.Effect<Merged, WriteError>
  /** Rejects it. Its branch remains until `deleteBranch` removes it. */
  readonly close: () => Effect.Effect<Proposal, WriteError>
}

/**
 * The operations of a store on proposals.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposals {
  /** Proposes edits. */
  readonly propose: Propose
  /** The proposals of the repository, oldest first. */
  readonly proposals: (options?: ListProposalsOptions) => Effect.Effect<ReadonlyArray<Proposal>, ReadError>
  /** A handle of a proposal, which is looked up on use. */
  readonly proposal: (id: string) => ProposalHandle
}
