import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/Oid.js"
import {
  ConflictError,
  NotFoundError,
  type ReadError,
  RemoteError,
  ValidationError,
  type WriteError
} from "../../domain/StoreError.js"
import type { Merged, MergeOptions } from "../Branches.js"
import type {
  AcceptOptions,
  Draft,
  ListProposalsOptions,
  Proposal,
  ProposalHandle,
  Proposed,
  ProposeOptions
} from "../Proposals.js"
import type { Head, PullRequest, PullRequests, WriteFailure } from "../remote/GitRemote.js"
import type { StoreService } from "../StoreService.js"
import { coreNow } from "./Ambient.js"
import { compare } from "./BranchCompare.js"
import { branchHead } from "./Branches.js"
import { refusal } from "./Commit.js"
import { branchError } from "./Core.js"
import { draftOn } from "./Drafts.js"
import { type MergeChecks, makeMerge } from "./Merges.js"
import { checkListOptions, checkProposeOptions, guardProposal } from "./ProposalArguments.js"
import { listProposals, ofBranch, ofPullRequest, proposalOf, toldAt } from "./ProposalReading.js"
import { acceptedMessage, type ProposalText, printProposal, proposalPrefix } from "./ProposalText.js"
import type { StoreCore } from "./StoreCore.js"
import { makeTransactions } from "./Transactions.js"

type Open = (core: StoreCore) => StoreService

const refuseInside = (core: StoreCore, operation: string): Effect.Effect<void, ValidationError> =>
  core.transaction === undefined
    ? Effect.void
    : new ValidationError({
        operation,
        message: "a transaction cannot hold proposals: they are seen by others before it ends",
        hint: "propose before the transaction or after it"
      })

const refuseReading = (core: StoreCore, operation: string) =>
  core.options.readOnly || core.isPinned ? refusal(operation) : Effect.void

/** Refuses a head of the branch of a proposal. */
type Judge = (head: Head) => Effect.Effect<void, WriteError>

/** Makes the commit on the branch of a proposal that opens or closes it, or marks it as accepted. */
const say = (core: StoreCore, operation: string, branch: string, text: ProposalText, judge?: Judge) =>
  core.remote
    .commitNext<undefined, WriteError | WriteFailure>(branch, (snapshot) =>
      Effect.gen(function* () {
        const head = yield* snapshot.head
        if (judge !== undefined && Option.isSome(head)) yield* judge(head.value)
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
        Option.isSome(committed) ? Effect.succeed(committed.value.commit) : gone(operation, branch)
      )
    )

const gone = (operation: string, branch: string) =>
  new NotFoundError({
    operation,
    message: `the branch ${branch} is gone`,
    hint: "`proposals` lists the proposals"
  })

/** The error of a host that did not take the branch as a pull request: nothing is lost by it. */
const untold = <E extends WriteError>(branch: string, id: string, error: E): E =>
  Object.assign(error, {
    hint: `${error.hint === undefined ? "" : `${error.hint}; `}the edits are kept on the branch ${branch}: accept them by the id ${id}, or delete it`
  })

const opened = (requests: PullRequests, request: Parameters<PullRequests["open"]>[0], operation: string) =>
  Effect.catchTag(
    requests.open(request),
    "RefMoved",
    ({ message }) => new ConflictError({ operation, message, conflicts: [] })
  )

/** Writes on a branch of its own, and proposes it. */
export const propose = <A, E, R>(
  core: StoreCore,
  open: Open,
  options: ProposeOptions,
  edits: (draft: Draft) => Effect.Effect<A, E, R>
): Effect.Effect<Proposed<A>, E | WriteError, R> =>
  Effect.gen(function* () {
    const operation = "Store.propose"
    yield* checkProposeOptions(operation, options)
    yield* refuseInside(core, operation)
    yield* refuseReading(core, operation)
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
            const commit = yield* say(core, operation, branch, text)
            const found = yield* ofBranch(core.remote, branch, commit)
            return Option.isSome(found) ? found.value : yield* gone(operation, branch)
          })
        : opened(pullRequests, { ...text, branch }, operation).pipe(
            Effect.map(ofPullRequest),
            Effect.mapError((error) => {
              keep()
              return untold(branch, id, error)
            })
          )
    const { finished, result } = yield* draftOn(operation, target, open, { branch, base }, edits, finish)
    return { result, proposal: finished }
  })

/** The proposals of a repository. */
export const proposals = (
  core: StoreCore,
  options: ListProposalsOptions = {}
): Effect.Effect<ReadonlyArray<Proposal>, ReadError> =>
  Effect.flatMap(checkListOptions("Store.proposals", options), () => listProposals(core, options))

const over = (operation: string, { id, state, title }: Proposal) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} (${title}) was ${state} already`,
    hint: state === "closed" ? "propose the edits again" : "its edits are in the branch that it was made for",
    conflicts: []
  })

const busy = (operation: string, { branch, id }: Proposal) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} is being accepted`,
    hint: "nothing was written: look at it again, and try again in a minute where it is still open",
    conflicts: [],
    branch
  })

const moved = (operation: string, { branch, id }: Proposal, expected: string, actual: string) =>
  new ConflictError({
    operation,
    message: `the proposal ${id} is at ${actual.slice(0, 7)}, not at ${expected.slice(0, 7)}: somebody has changed it`,
    hint: "look at what it proposes now, then accept that",
    conflicts: [],
    branch
  })

/** Whether the branch may be written to by its host alone. */
const isProtected = (error: { readonly _tag: string }): boolean =>
  error instanceof RemoteError && error.reason === "Denied"

/** One proposal over a core; `open` makes a store of a core. */
export const makeProposal = (core: StoreCore, open: Open, id: string): ProposalHandle => {
  const branch = `${proposalPrefix}${id}`
  const merge = (from: string, options: MergeOptions, checks?: MergeChecks) =>
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

  /** The proposal, as long as it can be written to. */
  const openOne = (operation: string): Effect.Effect<Proposal, WriteError> =>
    Effect.gen(function* () {
      yield* refuseInside(yield* coreNow(core), operation)
      yield* refuseReading(core, operation)
      const found = yield* required(operation)
      return found.state === "open" ? found : yield* over(operation, found)
    })

  /**
   * Refuses a head of the branch where the proposal is accepted or closed, or while somebody accepts it. An `accept`
   * that is older than a store's deadline has ended, whatever became of it.
   */
  const judged =
    (operation: string, { number }: Proposal): Judge =>
    ({ commit }) =>
      Effect.gen(function* () {
        if (number !== undefined) return yield* Effect.asVoid(openOne(operation))
        const told = yield* toldAt(core.remote, branch, commit)
        if (Option.isNone(told)) return yield* gone(operation, branch)
        const { accepting, proposal } = told.value
        if (proposal.state !== "open") return yield* over(operation, proposal)
        if (accepting === undefined) return
        const age = (yield* Clock.currentTimeMillis) - Date.parse(accepting)
        if (age < Duration.toMillis(core.options.deadline)) return yield* busy(operation, proposal)
      })

  const textOf = (
    { author, body, into, labels, title }: Proposal,
    state: ProposalText["state"]
  ): ProposalText => ({ id, title, body, author, into, labels, state })

  /**
   * `accept` writes to two branches. The commit that marks the proposal comes first, so that of what is done to it at once
   * one wins, and it stays where the target goes later. Where the merge fails, a further commit opens it again.
   */
  const marking = (operation: string, found: Proposal, head: Oid) => {
    let mark: Oid | undefined
    const judge = judged(operation, found)
    const begin = say(core, operation, branch, textOf(found, "accepted"), (now) =>
      Effect.zipRight(
        judge(now),
        now.commit === head ? Effect.void : moved(operation, found, head, now.commit)
      )
    ).pipe(
      Effect.map((commit) => {
        mark = commit
      })
    )
    const isMine = (now: Head) =>
      now.commit === mark ? Effect.void : moved(operation, found, head, now.commit)
    const undo = (error: WriteError) =>
      mark === undefined || error._tag === "AmbiguousWriteError"
        ? Effect.void
        : say(core, operation, branch, textOf(found, "open"), isMine).pipe(
            Effect.catchAll((cause) =>
              Effect.logWarning(`the proposal ${id} could not be opened again`, cause)
            )
          )
    return { begin, undo }
  }

  /** The commit of the branch itself, which a pull request tells some time later. */
  const headOf = (operation: string) =>
    Effect.flatMap(core.remote.head(branch), (head) =>
      Option.isSome(head) ? Effect.succeed(head.value.commit) : gone(operation, branch)
    )

  const rebased = ({ into }: Proposal, options: MergeOptions, judge?: Judge) =>
    merge(
      into,
      { ...options, into: branch, message: options.message ?? `merge ${into} into proposal ${id}` },
      { judge }
    )

  /** The host's own merge: what it merges by itself is what the proposal has become by the merge before. */
  const byHost = (
    requests: PullRequests,
    found: Proposal,
    options: MergeOptions,
    message: string,
    expected: string
  ): Effect.Effect<Merged, WriteError> =>
    Effect.gen(function* () {
      const operation = "Proposal.accept"
      const request = yield* requests.find(branch)
      if (Option.isNone(request)) return yield* gone(operation, branch)
      let head = expected
      for (let attempt = 0; ; attempt++) {
        const shown = yield* merge(head, { ...options, into: found.into, fastForward: false, dryRun: true })
        const { commitSha } = yield* rebased(found, options)
        const at = Option.getOrElse(commitSha, () => head)
        const before = at === head ? head : yield* firstParent(at as Oid)
        if (before !== head) return yield* moved(operation, found, head, before)
        const done = yield* pressed(requests, request.value, at as Oid, message)
        if (Option.isSome(done)) return { ...shown, kind: "merge", commitSha: done }
        head = yield* headOf(operation)
        // The merge of the target is our own; anything else on the branch is an edit that nobody has looked at.
        if (head !== at) return yield* moved(operation, found, at, head)
        if (attempt >= core.options.batchRetries) {
          return yield* new ConflictError({
            operation,
            message: `the host refused to merge the proposal ${id} ${attempt + 1} times`,
            hint: "nothing was merged: try again",
            conflicts: []
          })
        }
        yield* Effect.flatMap(Random.nextIntBetween(0, 100 * 2 ** Math.min(attempt, 6)), Effect.sleep)
      }
    })

  const firstParent = (commit: Oid) =>
    Effect.map(core.remote.commitInfo(commit), (info) =>
      Option.getOrElse(
        Option.flatMapNullable(info, ({ parents }) => parents[0]),
        () => commit
      )
    )

  /** None where the pull request is elsewhere, as far as the host knows. */
  const pressed = (requests: PullRequests, request: PullRequest, at: Oid, message: string) =>
    requests.merge(request, at, message).pipe(
      Effect.asSome,
      Effect.catchTag("RefMoved", () => Effect.succeedNone)
    )

  const accept = (options: AcceptOptions = {}): Effect.Effect<Merged, WriteError> =>
    Effect.gen(function* () {
      const operation = "Proposal.accept"
      const { commitSha, message, ...merging } = options
      const found = yield* openOne(operation)
      const head = yield* headOf(operation)
      if (commitSha !== undefined && commitSha !== head)
        return yield* moved(operation, found, commitSha, head)
      const text = acceptedMessage(found, message)
      const { pullRequests } = core.remote
      const { begin, undo } = marking(operation, found, head)
      const merged = yield* merge(
        head,
        { ...merging, into: found.into, fastForward: false, message: text },
        // A pull request says itself that it is merged.
        found.number === undefined ? { begin } : {}
      ).pipe(
        Effect.tapError(undo),
        Effect.catchIf(
          (error) => isProtected(error) && pullRequests !== undefined && found.number !== undefined,
          () => byHost(pullRequests!, found, merging, text, head)
        )
      )
      return merged.kind === "upToDate" ? yield* over(operation, { ...found, state: "accepted" }) : merged
    })

  const own: ProposalHandle = {
    get: () => required("Proposal.get"),
    compare: (options) =>
      Stream.unwrap(
        Effect.map(required("Proposal.compare"), ({ commitSha, into }) =>
          compare(core, into, commitSha, options)
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
        const { transaction } = makeTransactions(core.onBranch(branch), open, judged(operation, found))
        const { result } = yield* transaction(options, edits)
        return { result, proposal: { ...(yield* required(operation)), commitSha: yield* headOf(operation) } }
      }),
    rebase: (options = {}) =>
      Effect.flatMap(openOne("Proposal.rebase"), (found) =>
        rebased(found, options, judged("Proposal.rebase", found))
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
          return closed.state === "closed" ? closed : yield* over(operation, closed)
        }
        const text = textOf(found, "closed")
        const commitSha = yield* say(core, operation, branch, text, judged(operation, found))
        return { ...found, state: "closed", commitSha }
      })
  }
  return guardProposal(own, {
    attributes: { repository: core.remote.repo ?? core.remote.name, branch }
  })
}
