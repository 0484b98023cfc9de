import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { proposalPrefix } from "../../../domain/identifiers/ProposalBranch.js"
import { compareCodePoints } from "../../../domain/text/CodePointOrder.js"
import type { ListProposalsOptions, Proposal } from "../../Proposals.js"
import type { CommitInfo, GitRemoteService, Head } from "../../remote/GitRemote.js"
import type { PullRequest } from "../../remote/PullRequests.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type ProposalText, readProposal } from "./ProposalText.js"

/**
 * The number of commits in one read, and the most first parents that are followed, when the mark of a proposal is
 * searched.
 */
const [page, most] = [100, 10_000]

const states = { open: "open", merged: "accepted", closed: "closed" } as const

/** The proposal of a pull request. */
export const ofPullRequest = (request: PullRequest): Proposal => ({
  id: request.branch.slice(proposalPrefix.length),
  branch: request.branch,
  into: request.into,
  title: request.title,
  body: request.body,
  author: request.author,
  labels: request.labels,
  state: states[request.state],
  commitSha: request.commit,
  number: request.number,
  url: request.url
})

interface Said {
  readonly text: ProposalText
  readonly info: CommitInfo
}

/**
 * The newest mark on a proposal's branch. Only first parents are searched, because `rebase` merges the commits of other
 * branches.
 */
const findMark = (
  remote: GitRemoteService,
  id: string,
  head: Oid
): Effect.Effect<Option.Option<Said>, ReadError> =>
  Effect.gen(function* () {
    let next: Oid | undefined = head
    for (let followed = 0; next !== undefined && followed < most; ) {
      const read = new Map<Oid, CommitInfo>()
      const found: Option.Option<Said> = yield* remote.log(next, "", { limit: page }).pipe(
        Stream.filterMap((info): Option.Option<Said> => {
          read.set(info.commit, info)
          for (let own = next && read.get(next); own !== undefined; own = next && read.get(next)) {
            const text = readProposal(own.message)
            if (text?.id === id) return Option.some({ text, info: own })
            next = own.parents[0]
            followed++
          }
          return Option.none()
        }),
        Stream.runHead
      )
      if (Option.isSome(found)) return found
      if (read.size === 0) break
    }
    return Option.none()
  })

const isContained = (remote: GitRemoteService, commit: Oid, head: Option.Option<Head>) =>
  Option.isNone(head) ? Effect.succeed(false) : remote.isAncestor(commit, head.value.commit)

/** A proposal as its branch describes it. */
export interface ProposalMark {
  readonly proposal: Proposal
  /** When `accept` began, if the target does not contain its merge yet. */
  readonly accepting?: string | undefined
}

/** Reads a proposal from the marks on its branch. None if the branch is not a proposal. */
export const readMark = (
  remote: GitRemoteService,
  branch: string,
  head: Oid
): Effect.Effect<Option.Option<ProposalMark>, ReadError> =>
  Effect.gen(function* () {
    const id = branch.slice(proposalPrefix.length)
    const said = yield* findMark(remote, id, head)
    if (Option.isNone(said)) return Option.none()
    const { info, text } = said.value
    const isMarked = text.state === "accepted"
    // The commit that closes or accepts the proposal is not part of its contents.
    const isLast = isMarked || (text.state === "closed" && info.commit === head)
    const content = isLast ? (info.parents[0] ?? head) : head
    const target = yield* remote.head(text.into)
    const isAccepted = (isMarked && Option.isNone(target)) || (yield* isContained(remote, content, target))
    const proposal: Proposal = {
      id,
      branch,
      into: text.into,
      title: text.title,
      body: text.body,
      author: text.author ?? `${info.author.name} <${info.author.email}>`,
      labels: text.labels,
      state: isAccepted ? "accepted" : isMarked ? "open" : text.state,
      commitSha: isAccepted ? content : head
    }
    return Option.some({ proposal, accepting: isMarked && !isAccepted ? info.committer.date : undefined })
  })

/** The public part of `readMark`. */
export const ofBranch = (
  remote: GitRemoteService,
  branch: string,
  head: Oid
): Effect.Effect<Option.Option<Proposal>, ReadError> =>
  Effect.map(
    readMark(remote, branch, head),
    Option.map(({ proposal }) => proposal)
  )

/**
 * The commit with which a proposal is compared: its target before the proposal was merged, if the merge commit is
 * found. That commit has the proposal as a parent other than the first one.
 */
export const comparedWith = (
  { remote }: StoreCore,
  { commitSha, into, state }: Proposal
): Effect.Effect<string, ReadError> =>
  Effect.gen(function* () {
    const target = state === "accepted" ? yield* remote.head(into) : Option.none()
    if (Option.isNone(target)) return into
    const merge = yield* remote.log(target.value, "", { limit: most }).pipe(
      Stream.takeWhile(({ commit }) => commit !== commitSha),
      Stream.filter(({ parents }) => parents.indexOf(commitSha as Oid) > 0),
      Stream.runHead
    )
    return Option.match(merge, { onNone: () => into, onSome: ({ parents }) => parents[0]! })
  })

/** The proposal of a branch; that of its pull request, if there is one. */
export const proposalOf = (
  { remote }: StoreCore,
  branch: string
): Effect.Effect<Option.Option<Proposal>, ReadError> =>
  Effect.gen(function* () {
    const request =
      remote.pullRequests === undefined ? Option.none() : yield* remote.pullRequests.find(branch)
    if (Option.isSome(request)) return Option.some(ofPullRequest(request.value))
    const head = yield* remote.head(branch)
    return Option.isNone(head) ? Option.none() : yield* ofBranch(remote, branch, head.value.commit)
  })

/** All proposals of a repository, oldest first. */
export const listProposals = (
  { remote }: StoreCore,
  { state = "open" }: ListProposalsOptions
): Effect.Effect<ReadonlyArray<Proposal>, ReadError> =>
  Effect.gen(function* () {
    const all =
      remote.pullRequests === undefined
        ? yield* Effect.flatMap(remote.listBranches(proposalPrefix), (found) =>
            Effect.map(
              Effect.forEach(found, ({ commit, name }) => ofBranch(remote, name, commit), { concurrency: 8 }),
              (some) => some.flatMap(Option.toArray)
            )
          )
        : (yield* remote.pullRequests.list(state === "open" || state === "all" ? state : "closed"))
            .filter(({ branch }) => branch.startsWith(proposalPrefix))
            .map(ofPullRequest)
    return all
      .filter((one) => state === "all" || one.state === state)
      .sort((a, b) => compareCodePoints(a.id, b.id))
  })
