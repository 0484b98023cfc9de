import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ReadError, WriteError } from "../domain/errors/StoreError.js"
import type { CompareOptions, DocumentDifference, Merged, MergeOptions } from "./Branches.js"
import type { WriteOptions } from "./Collection.js"
import type { Transaction } from "./Transaction.js"

/**
 * `open`: it can be accepted. `accepted`: its changes are in the branch that it was made for. `closed`: it was turned
 * down.
 *
 * @since 0.1.0
 * @category models
 */
export type ProposalState = "open" | "accepted" | "closed"

/**
 * A change that waits to be accepted: a branch, and what was said of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposal {
  /** What `proposal` finds it by; a ULID. */
  readonly id: string
  /** `chainstore-proposal/<id>`. */
  readonly branch: string
  /** The branch that it is made for. */
  readonly into: string
  /** One line that says what it changes. */
  readonly title: string
  /** Why, in Markdown; empty where nothing was said. */
  readonly body: string
  /** `Name <email>`, or the account's name where it is a pull request. */
  readonly author: string
  /** Words to sort it by, as they were given. */
  readonly labels: ReadonlyArray<string>
  /** As the branch, or its pull request, says now. */
  readonly state: ProposalState
  /** The commit that the branch points to; of one that was accepted, the commit that was merged. */
  readonly commitSha: string
  /** Of the pull request, where it is one. */
  readonly number?: number | undefined
  /** Where people look at it, if the remote has a page. */
  readonly url?: string | undefined
}

/**
 * What a proposal says, and where it is to go.
 *
 * @since 0.1.0
 * @category options
 */
export interface ProposeOptions {
  /** One line. */
  readonly title: string
  /** Why, in Markdown. Default: nothing. */
  readonly body?: string | undefined
  /** The branch that it is made for. Default: the branch of the store. */
  readonly into?: string | undefined
  /** Words to sort it by. A pull request gets them by one request more. */
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
  /** The commit that was looked at: the proposal is not accepted if it has moved since. */
  readonly commitSha?: string | undefined
}

/**
 * Writes on the branch of a proposal; nothing of them is seen elsewhere.
 *
 * @since 0.1.0
 * @category models
 */
export type Draft = Transaction

/**
 * What a proposal came to.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposed<A> {
  /** What the edits came to. */
  readonly result: A
  /** As it is with the edits in it. */
  readonly proposal: Proposal
}

/**
 * Writes on a branch of its own and proposes that. Edits that fail, are interrupted or write nothing leave no proposal.
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
 * One proposal, by its id. One that is missing fails each operation with a `NotFoundError`; one that was accepted or
 * closed fails those that write with a `ConflictError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProposalHandle {
  /** What is said of it now. */
  readonly get: () => Effect.Effect<Proposal, ReadError>
  /** The documents that it changes; of one that is accepted, those that it has changed. */
  readonly compare: (options?: CompareOptions) => Stream.Stream<DocumentDifference, ReadError>
  /** What accepting it would do, with the conflicts that would stop that. Writes nothing. */
  readonly preview: (options?: ProposalMergeOptions) => Effect.Effect<Merged, WriteError>
  /** More edits, all or none of them. */
  readonly update: <A, E, R>(
    edits: (draft: Draft) => Effect.Effect<A, E, R>,
    options?: WriteOptions
  ) => Effect.Effect<Proposed<A>, E | WriteError, R>
  /** Merges the branch that it is made for into it. Here `ours` is the proposal. */
  readonly rebase: (options?: ProposalMergeOptions) => Effect.Effect<Merged, WriteError>
  /**
   * Merges it, as one commit with both as its parents. Where only the host may write to the branch, that is merged into
   * the proposal first, and the host merges the pull request.
   */
  readonly accept: (options?: AcceptOptions) => Effect.Effect<Merged, WriteError>
  /** Turns it down. Its branch stays: `deleteBranch` removes it. */
  readonly close: () => Effect.Effect<Proposal, WriteError>
}

/**
 * What a store does with proposals.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proposals {
  /** Makes a proposal of edits. */
  readonly propose: Propose
  /** The proposals of the repository, oldest first. */
  readonly proposals: (options?: ListProposalsOptions) => Effect.Effect<ReadonlyArray<Proposal>, ReadError>
  /** One proposal; it is looked for when it is used. */
  readonly proposal: (id: string) => ProposalHandle
}
