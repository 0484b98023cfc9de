import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { compareCodePoints } from "../../domain/CanonicalJson.js"
import type { Oid } from "../../domain/Oid.js"
import type { ReadError } from "../../domain/StoreError.js"
import type { ListProposalsOptions, Proposal, ProposalState } from "../Proposals.js"
import type { CommitInfo, GitRemoteService } from "../remote/GitRemote.js"
import type { PullRequest } from "../remote/PullRequests.js"
import { type ProposalText, proposalPrefix, readProposal } from "./ProposalText.js"
import type { StoreCore } from "./StoreCore.js"

/** Commits of a branch among which the one that says what it proposes is looked for. */
const most = 1_000

const states = { open: "open", merged: "accepted", closed: "closed" } as const

/** A proposal as its pull request shows it. */
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

/** The newest commit of a proposal's branch that says what it is. */
const saidAt = (
  remote: GitRemoteService,
  id: string,
  head: Oid
): Effect.Effect<Option.Option<Said>, ReadError> =>
  remote.log(head, "", { limit: most }).pipe(
    Stream.filterMap((info): Option.Option<Said> => {
      const text = readProposal(info.message)
      return text?.id === id ? Option.some({ text, info }) : Option.none()
    }),
    Stream.runHead
  )

const isContained = (remote: GitRemoteService, commit: Oid, branch: string) =>
  Effect.flatMap(remote.head(branch), (head) =>
    Option.isNone(head) ? Effect.succeed(false) : remote.isAncestor(commit, head.value.commit)
  )

/** A proposal as the commits of its branch tell it. None where the branch proposes nothing. */
export const ofBranch = (
  remote: GitRemoteService,
  branch: string,
  head: Oid
): Effect.Effect<Option.Option<Proposal>, ReadError> =>
  Effect.gen(function* () {
    const id = branch.slice(proposalPrefix.length)
    const said = yield* saidAt(remote, id, head)
    if (Option.isNone(said)) return Option.none()
    const { info, text } = said.value
    // The commit that closes it is not what would have been accepted.
    const content = text.state === "closed" && info.commit === head ? (info.parents[0] ?? head) : head
    const state: ProposalState = (yield* isContained(remote, content, text.into)) ? "accepted" : text.state
    return Option.some({
      id,
      branch,
      into: text.into,
      title: text.title,
      body: text.body,
      author: text.author ?? `${info.author.name} <${info.author.email}>`,
      labels: text.labels,
      state,
      commitSha: head
    })
  })

/** The proposal of a branch: its pull request's, where there is one. */
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
