import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ConflictError, type WriteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { Proposal } from "../../Proposals.js"
import type { Head, WriteFailure } from "../../remote/GitRemote.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { alreadyEnded, beingAccepted, branchGone, proposalMoved } from "./ProposalErrors.js"
import { readMark } from "./ProposalReading.js"
import { type ProposalText, printProposal } from "./ProposalText.js"

/** Fails if a head of the proposal's branch must not be changed. */
export type CheckHead = (head: Head) => Effect.Effect<void, WriteError>

/** Makes the commit that opens, closes or accepts a proposal, on its branch. */
export const commitMark = (
  core: StoreCore,
  operation: string,
  branch: string,
  text: ProposalText,
  checkHead?: CheckHead
) =>
  core.remote
    .commitNext<undefined, WriteError | WriteFailure>(branch, (snapshot) =>
      Effect.gen(function* () {
        const head = yield* snapshot.head
        if (checkHead !== undefined && Option.isSome(head)) yield* checkHead(head.value)
        return {
          commit: Option.as(head, {
            message: printProposal(text),
            changes: [],
            author: core.options.author,
            committer: core.options.committer
          }),
          result: undefined
        }
      })
    )
    .pipe(
      Effect.retry({ times: core.options.batchRetries, while: ({ _tag }) => _tag === "RefMoved" }),
      Effect.catchTag(
        "RefMoved",
        ({ message }) =>
          new ConflictError({ operation, message, hint: "nothing was written: try again", conflicts: [] })
      ),
      Effect.flatMap(({ committed }) =>
        Option.isSome(committed) ? Effect.succeed(committed.value.commit) : branchGone(operation, branch)
      )
    )

/** The text that such a commit contains. */
export const textOf = (
  { author, body, id, into, labels, title }: Proposal,
  state: ProposalText["state"]
): ProposalText => ({ id, title, body, author, into, labels, state })

/** The commits that mark the state of a proposal. `openOne` fails if the proposal, or its pull request, is not open. */
export const makeProposalMarks = (
  core: StoreCore,
  branch: string,
  openOne: (operation: string) => Effect.Effect<Proposal, WriteError>
) => {
  /**
   * Fails if the proposal is accepted or closed, or is being accepted. An `accept` that began longer ago than the
   * store's deadline has ended, with whatever result.
   */
  const checkOpen =
    (operation: string, { number }: Proposal): CheckHead =>
    ({ commit }) =>
      Effect.gen(function* () {
        if (number !== undefined) return yield* Effect.asVoid(openOne(operation))
        const mark = yield* readMark(core.remote, branch, commit)
        if (Option.isNone(mark)) return yield* branchGone(operation, branch)
        const { accepting, proposal } = mark.value
        if (proposal.state !== "open") return yield* alreadyEnded(operation, proposal)
        if (accepting === undefined) return
        // A time in the future comes from a clock that was changed: that `accept` has ended too.
        const age = Math.abs((yield* Clock.currentTimeMillis) - Date.parse(accepting))
        if (age < Duration.toMillis(core.options.deadline)) return yield* beingAccepted(operation, proposal)
      })

  /**
   * `accept` writes to two branches. The commit that marks the proposal is made first: so only one of several
   * concurrent operations on the proposal succeeds, and the mark remains when the target moves on. If the merge fails,
   * another commit reopens the proposal.
   */
  const acceptance = (operation: string, found: Proposal, head: Oid) => {
    let mark: Oid | undefined
    const checkHead = checkOpen(operation, found)
    const begin = commitMark(core, operation, branch, textOf(found, "accepted"), (now) =>
      Effect.zipRight(
        checkHead(now),
        now.commit === head ? Effect.void : proposalMoved(operation, found, head, now.commit)
      )
    ).pipe(
      Effect.map((commit) => {
        mark = commit
      })
    )
    const isMine = (now: Head) =>
      now.commit === mark ? Effect.void : proposalMoved(operation, found, head, now.commit)
    const undo = (error: WriteError) =>
      mark === undefined || error._tag === "AmbiguousWriteError"
        ? Effect.void
        : commitMark(core, operation, branch, textOf(found, "open"), isMine).pipe(
            Effect.catchAll((cause) =>
              Effect.logWarning(`the proposal ${found.id} could not be opened again`, cause)
            )
          )
    return { begin, undo }
  }

  return { checkOpen, acceptance }
}
