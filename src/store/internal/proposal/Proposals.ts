import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import {
  ConflictError,
  NotFoundError,
  type ReadError,
  RemoteError,
  ValidationError,
  type WriteError
} from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { proposalPrefix } from "../../../domain/identifiers/ProposalBranch.js"
import { branchError } from "../../../git/Names.js"
import type { Merged, MergeOptions } from "../../Branches.js"
import type {
  AcceptOptions,
  Draft,
  ListProposalsOptions,
  Proposal,
  ProposalHandle,
  Proposed,
  ProposeOptions
} from "../../Proposals.js"
import type { PullRequests } from "../../remote/GitRemote.js"
import type { StoreService } from "../../StoreService.js"
import { readOnlyError } from "../commit/Commit.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { compare } from "../merge/BranchCompare.js"
import { branchHead } from "../merge/Branches.js"
import { type MergeHooks, makeMerge } from "../merge/MergeBranches.js"
import { currentCore } from "../transaction/CurrentTransaction.js"
import { makeTransactions } from "../transaction/Transactions.js"
import { runDraft } from "./Drafts.js"
import { checkListOptions, checkProposeOptions, guardProposal } from "./ProposalArguments.js"
import { mergeByHost } from "./ProposalByHost.js"
import { alreadyEnded, branchGone, proposalMoved } from "./ProposalErrors.js"
import { commitMark, makeProposalMarks, textOf } from "./ProposalMarks.js"
import { comparedWith, listProposals, ofBranch, ofPullRequest, proposalOf } from "./ProposalReading.js"
import { acceptedMessage, type ProposalText } from "./ProposalText.js"

type Open = (core: StoreCore) => StoreService

const refuseInTransaction = (core: StoreCore, operation: string): Effect.Effect<void, ValidationError> =>
  core.transaction === undefined
    ? Effect.void
    : new ValidationError({
        operation,
        message: "a transaction cannot contain proposals: others would see them before it ends",
        hint: "propose before the transaction or after it"
      })

const refuseReadOnly = (core: StoreCore, operation: string) =>
  core.options.readOnly || core.isPinned ? readOnlyError(operation) : Effect.void

/** The error of a host that did not create the pull request. The branch is kept. */
const withKeptBranch = <E extends WriteError>(branch: string, id: string, error: E): E =>
  Object.assign(error, {
    hint: `${error.hint === undefined ? "" : `${error.hint}; `}the edits are kept on the branch ${branch}: accept them by the id ${id}, or delete it`
  })

const opened = (requests: PullRequests, request: Parameters<PullRequests["open"]>[0], operation: string) =>
  Effect.catchTag(
    requests.open(request),
    "RefMoved",
    ({ message }) => new ConflictError({ operation, message, conflicts: [] })
  )

/** Runs edits on a new branch, and proposes it. */
export const propose = <A, E, R>(
  core: StoreCore,
  open: Open,
  options: ProposeOptions,
  edits: (draft: Draft) => Effect.Effect<A, E, R>
): Effect.Effect<Proposed<A>, E | WriteError, R> =>
  Effect.gen(function* () {
    const operation = "Store.propose"
    yield* checkProposeOptions(operation, options)
    yield* refuseInTransaction(core, operation)
    yield* refuseReadOnly(core, operation)
    const { into = core.branch } = options
    const wrong = branchError(operation, into)
    if (wrong !== undefined) return yield* wrong
    const target = into === core.branch ? core : core.onBranch(into)
    const base = yield* branchHead(target, operation, target.snapshot())
    const id = yield* core.nextId
    const branch = `${proposalPrefix}${id}`
    const { author } = core.options
    const text: ProposalText = {
      id,
      title: options.title.trim(),
      body: (options.body ?? "").replaceAll("\r\n", "\n").trim(),
      author: author === undefined ? undefined : `${author.name} <${author.email}>`,
      into,
      labels: (options.labels ?? []).map((label) => label.trim()),
      state: "open"
    }
    const { pullRequests } = core.remote
    const finish = (_last: Oid, keep: () => void): Effect.Effect<Proposal, WriteError> =>
      pullRequests === undefined
        ? Effect.gen(function* () {
            const commit = yield* commitMark(core, operation, branch, text)
            const found = yield* ofBranch(core.remote, branch, commit)
            return Option.isSome(found) ? found.value : yield* branchGone(operation, branch)
          })
        : opened(pullRequests, { ...text, branch }, operation).pipe(
            Effect.map(ofPullRequest),
            Effect.mapError((error) => {
              keep()
              return withKeptBranch(branch, id, error)
            })
          )
    const { finished, result } = yield* runDraft(operation, target, open, { branch, base }, edits, finish)
    return { result, proposal: finished }
  })

/** The proposals of a repository. */
export const proposals = (
  core: StoreCore,
  options: ListProposalsOptions = {}
): Effect.Effect<ReadonlyArray<Proposal>, ReadError> =>
  Effect.flatMap(checkListOptions("Store.proposals", options), () => listProposals(core, options))

/** Whether only the host may write to the branch. */
const isProtected = (error: { readonly _tag: string }): boolean =>
  error instanceof RemoteError && error.reason === "Denied"

/** One proposal over a core; `open` makes a store of a core. */
export const makeProposal = (core: StoreCore, open: Open, id: string): ProposalHandle => {
  const branch = `${proposalPrefix}${id}`
  const merge = (from: string, options: MergeOptions, checks?: MergeHooks) =>
    makeMerge(core, open, checks)(from, options)

  const required = (operation: string): Effect.Effect<Proposal, ReadError> =>
    Effect.gen(function* () {
      const wrong = branchError(operation, branch)
      if (wrong !== undefined) return yield* wrong
      const found = yield* proposalOf(core, branch)
      if (Option.isSome(found)) return found.value
      return yield* new NotFoundError({
        operation,
        message: `${core.remote.name} has no proposal ${id}`,
        hint: "`proposals` lists the proposals"
      })
    })

  /** The proposal; fails if it is not open. */
  const openOne = (operation: string): Effect.Effect<Proposal, WriteError> =>
    Effect.gen(function* () {
      yield* refuseInTransaction(yield* currentCore(core), operation)
      yield* refuseReadOnly(core, operation)
      const found = yield* required(operation)
      return found.state === "open" ? found : yield* alreadyEnded(operation, found)
    })

  const { checkOpen, acceptance } = makeProposalMarks(core, branch, openOne)

  /** The head of the branch, which the pull request may show later. */
  const headOf = (operation: string) =>
    Effect.flatMap(core.remote.head(branch), (head) =>
      Option.isSome(head) ? Effect.succeed(head.value.commit) : branchGone(operation, branch)
    )

  const rebased = ({ into }: Proposal, options: MergeOptions, checks: MergeHooks) =>
    merge(
      into,
      { ...options, into: branch, message: options.message ?? `merge ${into} into proposal ${id}` },
      checks
    )

  const accept = (options: AcceptOptions = {}): Effect.Effect<Merged, WriteError> =>
    Effect.gen(function* () {
      const operation = "Proposal.accept"
      const { commitSha, message, ...merging } = options
      const found = yield* openOne(operation)
      const head = yield* headOf(operation)
      if (commitSha !== undefined && commitSha !== head)
        return yield* proposalMoved(operation, found, commitSha, head)
      const text = acceptedMessage(found, message)
      const { pullRequests } = core.remote
      const { begin, undo } = acceptance(operation, found, head)
      const merged = yield* merge(
        head,
        { ...merging, into: found.into, fastForward: false, message: text },
        // A pull request records itself that it is merged.
        found.number === undefined ? { beforeWrite: begin } : {}
      ).pipe(
        Effect.tapError(undo),
        Effect.catchIf(
          (error) => isProtected(error) && pullRequests !== undefined && found.number !== undefined,
          () =>
            mergeByHost({ core, headOf, merge, rebased, requests: pullRequests! }, found, merging, text, head)
        )
      )
      return merged.kind === "upToDate"
        ? yield* alreadyEnded(operation, { ...found, state: "accepted" })
        : merged
    })

  const own: ProposalHandle = {
    get: () => required("Proposal.get"),
    compare: (options) =>
      Stream.unwrap(
        Effect.flatMap(required("Proposal.compare"), (found) =>
          Effect.map(comparedWith(core, found), (before) => compare(core, before, found.commitSha, options))
        )
      ),
    preview: (options = {}) =>
      Effect.gen(function* () {
        const { commitSha, into } = yield* required("Proposal.preview")
        return yield* merge(commitSha, { ...options, into, fastForward: false, dryRun: true })
      }),
    update: (edits, options = {}) =>
      Effect.gen(function* () {
        const operation = "Proposal.update"
        const found = yield* openOne(operation)
        const { transaction } = makeTransactions(core.onBranch(branch), open, checkOpen(operation, found))
        const { result } = yield* transaction(options, edits)
        return { result, proposal: { ...(yield* required(operation)), commitSha: yield* headOf(operation) } }
      }),
    rebase: (options = {}) =>
      Effect.flatMap(openOne("Proposal.rebase"), (found) =>
        rebased(found, options, { checkHead: checkOpen("Proposal.rebase", found) })
      ),
    accept,
    close: () =>
      Effect.gen(function* () {
        const operation = "Proposal.close"
        const found = yield* openOne(operation)
        const { pullRequests } = core.remote
        if (pullRequests !== undefined && found.number !== undefined) {
          const closed = ofPullRequest(
            yield* Effect.catchTag(
              pullRequests.close(found.number),
              "RefMoved",
              ({ message }) => new ConflictError({ operation, message, conflicts: [] })
            )
          )
          return closed.state === "closed" ? closed : yield* alreadyEnded(operation, closed)
        }
        const text = textOf(found, "closed")
        const commitSha = yield* commitMark(core, operation, branch, text, checkOpen(operation, found))
        return { ...found, state: "closed", commitSha }
      })
  }
  return guardProposal(own, {
    attributes: { repository: core.remote.repo ?? core.remote.name, branch }
  })
}
