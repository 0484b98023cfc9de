import * as Effect from "effect/Effect"
import type { ValidationError } from "../../domain/errors/StoreError.js"
import type { CompareOptions, Merged } from "../Branches.js"
import type { WriteOptions } from "../Collection.js"
import type { AcceptOptions, Draft, ProposalHandle, ProposalMergeOptions, Proposed } from "../Proposals.js"
import { AsyncDraft } from "./AsyncDraft.js"
import {
  type AsyncDocumentDifference,
  type AsyncMerged,
  type AsyncMergeOptions,
  differencesOf,
  mergedOf,
  mergeOptionsOf
} from "./AsyncMerge.js"
import { runCallback } from "./Callback.js"
import { type MethodRows, PromiseAdapter, type PromiseMethods, withPromiseMethods } from "./PromiseMethods.js"
import { effectOptions, type PromiseOptions, requireBody, signalOptions } from "./PromiseOptions.js"
import type { PromiseRunner } from "./PromiseRunner.js"

const rows = { get: ["value", 0], close: ["value", 0] } as const satisfies MethodRows<ProposalHandle>

const Methods = withPromiseMethods(PromiseAdapter, rows) as new (
  runner: PromiseRunner,
  target: Effect.Effect<ProposalHandle, ValidationError>
) => PromiseAdapter<ProposalHandle> & PromiseMethods<ProposalHandle, typeof rows>

/**
 * Options of a merge of a proposal; `onConflict` may be an async function.
 *
 * @since 0.1.0
 * @category options
 */
export interface AsyncProposalMergeOptions
  extends Omit<ProposalMergeOptions, "onConflict">,
    Pick<AsyncMergeOptions, "onConflict"> {}

/**
 * Options of accepting a proposal; `onConflict` may be an async function.
 *
 * @since 0.1.0
 * @category options
 */
export interface AsyncAcceptOptions extends AsyncProposalMergeOptions, Pick<AcceptOptions, "commitSha"> {}

/** Converts a function that edits a proposal to an effect. */
export const draftBody =
  <A>(runner: PromiseRunner, edits: (draft: AsyncDraft) => PromiseLike<A> | A) =>
  (draft: Draft) =>
    runCallback(() => edits(new AsyncDraft(runner, () => draft)))

/**
 * One proposal as promises.
 *
 * @since 0.1.0
 * @category models
 */
export class AsyncProposal extends Methods {
  /** The documents that the proposal changes. */
  compare(options?: PromiseOptions<CompareOptions>): AsyncIterable<AsyncDocumentDifference> {
    const compared = Effect.map(this.target, (proposal) =>
      differencesOf(this.runner, proposal.compare(effectOptions(options)))
    )
    return this.runner.iterate(compared, signalOptions(options))
  }

  private merging(
    how: (proposal: ProposalHandle, options: AcceptOptions) => Effect.Effect<Merged, unknown>,
    options: PromiseOptions<AsyncAcceptOptions> | undefined
  ): Promise<AsyncMerged> {
    return this.run((proposal) => Effect.map(how(proposal, mergeOptionsOf(options)), mergedOf), options)
  }

  /** The result of accepting the proposal, with its conflicts, without writing anything. */
  preview(options?: PromiseOptions<AsyncProposalMergeOptions>): Promise<AsyncMerged> {
    return this.merging((proposal, given) => proposal.preview(given), options)
  }

  /** Merges the target branch into the proposal. Here `ours` is the proposal. */
  rebase(options?: PromiseOptions<AsyncProposalMergeOptions>): Promise<AsyncMerged> {
    return this.merging((proposal, given) => proposal.rebase(given), options)
  }

  /** Merges the proposal into its target branch; see `ProposalHandle.accept`. */
  accept(options?: PromiseOptions<AsyncAcceptOptions>): Promise<AsyncMerged> {
    return this.merging((proposal, given) => proposal.accept(given), options)
  }

  /** Adds edits to the proposal: all of them or none. */
  async update<A>(
    edits: (draft: AsyncDraft) => PromiseLike<A> | A,
    options?: PromiseOptions<WriteOptions>
  ): Promise<Proposed<A>> {
    requireBody("Proposal.update", edits)
    return this.run(
      (proposal) => proposal.update(draftBody(this.runner, edits), effectOptions(options)),
      options
    )
  }
}
