import { Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { HostError } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import { fromNodeId, nodeId, numericId } from "../repository/NodeId.js"
import * as PullRequests from "../repository/PullRequests.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as FileChanges from "../rest/FileChanges.js"
import * as PullRequestMerge from "../rest/PullRequestMerge.js"
import * as PullRequestRoutes from "../rest/PullRequestRoutes.js"
import { failure } from "./GraphQlFailure.js"
import { fail, type MutationInput, repositoryById, repositoryForWrite } from "./MutationTarget.js"
import * as RelayConnection from "./RelayConnection.js"
import { andThen, type ResolverContext } from "./ResolverContext.js"

type Request = PullRequests.PullRequest

const none = (name: string) => (args: RelayConnection.ConnectionArguments) =>
  RelayConnection.slice(name, args, [])

/** Fields of GitHub's `PullRequest` that the host does not support. */
const unsupported = {
  assignees: none("assignees"),
  autoMergeRequest: null,
  comments: none("comments"),
  isCrossRepository: false,
  isInMergeQueue: false,
  isMergeQueueEnabled: false,
  maintainerCanModify: false,
  milestone: null,
  projectCards: none("projectCards"),
  reactionGroups: null,
  reviewDecision: null,
  reviewRequests: none("reviewRequests"),
  reviews: none("reviews"),
  statusCheckRollup: null
}

const stateOf = ({ merged, state }: Request) =>
  merged !== null ? "MERGED" : state === "open" ? "OPEN" : "CLOSED"

const statuses: Readonly<Record<string, string>> = {
  added: "ADDED",
  removed: "DELETED",
  modified: "MODIFIED",
  renamed: "RENAMED",
  changed: "CHANGED"
}

/** The fields of a pull request: values, and functions of their arguments. */
type Fields = Readonly<Record<string, unknown>>

/** Resolves a pull request. */
export const pullRequest = (context: ResolverContext, hosted: HostedRepository, request: Request): Fields => {
  const { call, objects, run } = context
  const { fullName, git, owner } = hosted
  const commit = (oid: Oid) =>
    Effect.map(
      git.commit(oid),
      Option.match({ onNone: () => null, onSome: (info) => objects.commit(context, hosted, info) })
    )
  const ref = (name: string) =>
    run(
      Effect.map(
        git.ref(`refs/heads/${name}`),
        Option.match({
          onNone: () => null,
          onSome: (oid) => objects.ref(context, hosted, `refs/heads/${name}`, oid)
        })
      )
    )
  const count = () =>
    run(
      Effect.flatMap(PullRequestMerge.commitsOf(git, request), ({ from }) =>
        FileChanges.list(git, from, request.headCommit)
      )
    )
  let counted: ReturnType<typeof count> | undefined
  const changes = () => {
    counted ??= count()
    return counted
  }
  const sum = (of: (file: FileChanges.FileChange) => number) => () =>
    andThen(changes(), (files) => files.reduce((total, file) => total + of(file), 0))
  const mergeable = (yes: string, no: string, unknown: string) => () =>
    request.state === "closed"
      ? unknown
      : run(Effect.map(PullRequestMerge.isMergeable(git, request), (is) => (is ? yes : no)))
  const by = request.merged?.by ?? null
  return {
    ...unsupported,
    __typename: "PullRequest",
    id: nodeId("PullRequest", fullName, String(request.number)),
    databaseId: numericId(`${fullName}#${request.number}`),
    number: request.number,
    title: request.title,
    body: request.body ?? "",
    author: () => objects.account(context, request.author),
    state: stateOf(request),
    isDraft: request.draft,
    closed: request.state === "closed",
    closedAt: request.closedAt,
    createdAt: request.createdAt,
    updatedAt: request.updatedAt,
    merged: request.merged !== null,
    mergedAt: request.merged?.at ?? null,
    mergedBy: () => (by === null ? null : objects.account(context, by)),
    mergeCommit: () => (request.merged === null ? null : run(commit(request.merged.commit))),
    potentialMergeCommit: null,
    mergeable: mergeable("MERGEABLE", "CONFLICTING", "UNKNOWN"),
    mergeStateStatus: mergeable("CLEAN", "DIRTY", "UNKNOWN"),
    url: Links.html(call.links, fullName, "pull", String(request.number)),
    resourcePath: `/${fullName}/pull/${request.number}`,
    baseRefName: request.base,
    baseRefOid: request.baseCommit,
    baseRef: () => ref(request.base),
    headRefName: request.head,
    headRefOid: request.headCommit,
    headRef: () => ref(request.head),
    headRepository: () => objects.repository(context, hosted),
    headRepositoryOwner: () => objects.account(context, owner),
    repository: () => objects.repository(context, hosted),
    additions: sum(({ additions }) => additions),
    deletions: sum(({ deletions }) => deletions),
    changedFiles: sum(() => 1),
    files: (args: RelayConnection.ConnectionArguments) =>
      andThen(changes(), (files) =>
        RelayConnection.slice(
          "files",
          args,
          files.map(({ additions, deletions, path, status }) => ({
            additions,
            deletions,
            path,
            changeType: statuses[status],
            viewerViewedState: "UNVIEWED"
          }))
        )
      ),
    commits: (args: RelayConnection.ConnectionArguments) =>
      andThen(
        run(
          Effect.flatMap(PullRequestMerge.commitsOf(git, request), ({ oids }) =>
            Effect.forEach(oids, (oid) => Effect.map(commit(oid), (shown) => ({ oid, shown })))
          )
        ),
        (all) => {
          const shown = all.map(({ oid, shown }) => ({
            id: nodeId("PullRequestCommit", fullName, `${request.number}`, oid),
            url: Links.html(call.links, fullName, "commit", oid),
            commit: shown
          }))
          // GitHub allows omitting `first` and `last` if only `totalCount` is selected.
          const isCounted = args.first == null && args.last == null
          return isCounted ? { totalCount: all.length } : RelayConnection.slice("commits", args, shown)
        }
      ),
    labels: (args: RelayConnection.ConnectionArguments) =>
      RelayConnection.slice(
        "labels",
        args,
        request.labels.map((name) => ({
          id: nodeId("Label", fullName, name),
          name,
          color: "ededed",
          description: null,
          url: Links.html(call.links, fullName, "labels", name)
        }))
      )
  }
}

/** The fields `pullRequest` and `pullRequests` of a repository. */
export const ofRepository = (context: ResolverContext, hosted: HostedRepository) => ({
  pullRequest: ({ number }: { readonly number: number }) =>
    context.run(
      Effect.flatMap(
        PullRequests.find(hosted.git, number),
        Option.match({
          onNone: () => fail("NOT_FOUND", `Could not resolve to a PullRequest with the number of ${number}.`),
          onSome: (found) => Effect.succeed(pullRequest(context, hosted, found))
        })
      )
    ),
  pullRequests: (
    args: RelayConnection.ConnectionArguments & {
      readonly states?: ReadonlyArray<string> | null
      readonly labels?: ReadonlyArray<string> | null
      readonly headRefName?: string | null
      readonly baseRefName?: string | null
      readonly orderBy?: { readonly field: string; readonly direction: "ASC" | "DESC" } | null
    }
  ) =>
    andThen(context.run(PullRequests.list(hosted.git)), (all) => {
      const found = all.filter(
        (one) =>
          (args.states == null || args.states.includes(stateOf(one))) &&
          (args.headRefName == null || one.head === args.headRefName) &&
          (args.baseRefName == null || one.base === args.baseRefName) &&
          (args.labels == null || one.labels.some((label) => args.labels!.includes(label)))
      )
      // The default order is oldest first.
      const ordered = args.orderBy?.direction === "DESC" ? found : found.toReversed()
      return RelayConnection.slice(
        "pullRequests",
        args,
        ordered.map((one) => pullRequest(context, hosted, one))
      )
    })
})

/** Converts an error of the REST implementation to a GraphQL error. */
const toGraphQlError = (error: unknown) => {
  if (!(error instanceof HostError) || error.status >= 500) return error as never
  const detail = error.errors?.[0]
  return failure(
    "UNPROCESSABLE",
    detail?.message ?? (detail?.field === undefined ? error.message : `${detail.field} is invalid`)
  )
}

const byRequestId = (context: ResolverContext, id: string) =>
  Effect.gen(function* () {
    const [fullName, number] = fromNodeId("PullRequest", id) ?? []
    if (fullName === undefined || !/^\d{1,9}$/.test(number ?? "")) {
      return yield* fail(
        "NOT_FOUND",
        `Could not resolve to a node with the global id of '${id.slice(0, 200)}'.`
      )
    }
    return { hosted: yield* repositoryForWrite(context, fullName), number: Number(number) }
  })

const payload = (context: ResolverContext, hosted: HostedRepository, number: number, input: MutationInput) =>
  Effect.map(PullRequests.find(hosted.git, number), (found) => ({
    clientMutationId: input.clientMutationId,
    actor: () => context.objects.account(context, context.call.principal.login ?? "anonymous"),
    pullRequest: Option.match(found, {
      onNone: () => null,
      onSome: (one) => pullRequest(context, hosted, one)
    })
  }))

export const createPullRequest = (
  context: ResolverContext,
  input: MutationInput & {
    readonly repositoryId: string
    readonly baseRefName: string
    readonly headRefName: string
    readonly title: string
    readonly body?: string | null
    readonly draft?: boolean | null
  }
) =>
  Effect.gen(function* () {
    const hosted = yield* repositoryById(context, input.repositoryId)
    const created = yield* PullRequestRoutes.create(context.call, hosted, {
      title: input.title,
      head: input.headRefName,
      base: input.baseRefName,
      body: input.body ?? null,
      draft: input.draft ?? false
    }).pipe(Effect.mapError(toGraphQlError))
    return yield* payload(context, hosted, created.number, input)
  })

const updating =
  (state?: "open" | "closed") =>
  (
    context: ResolverContext,
    input: MutationInput & {
      readonly pullRequestId: string
      readonly title?: string | null
      readonly body?: string | null
      readonly baseRefName?: string | null
      readonly state?: "OPEN" | "CLOSED" | null
    }
  ) =>
    Effect.gen(function* () {
      const { hosted, number } = yield* byRequestId(context, input.pullRequestId)
      yield* PullRequestRoutes.update(hosted, number, {
        title: input.title ?? undefined,
        body: input.body ?? undefined,
        base: input.baseRefName ?? undefined,
        state: state ?? input.state?.toLowerCase()
      }).pipe(Effect.mapError(toGraphQlError))
      return yield* payload(context, hosted, number, input)
    })

export const updatePullRequest = updating()
export const closePullRequest = updating("closed")
export const reopenPullRequest = updating("open")

export const mergePullRequest = (
  context: ResolverContext,
  input: MutationInput & {
    readonly pullRequestId: string
    readonly expectedHeadOid?: string | null
    readonly commitHeadline?: string | null
    readonly commitBody?: string | null
    readonly mergeMethod?: "MERGE" | "SQUASH" | "REBASE" | null
  }
) =>
  Effect.gen(function* () {
    const { hosted, number } = yield* byRequestId(context, input.pullRequestId)
    if (input.mergeMethod === "SQUASH" || input.mergeMethod === "REBASE") {
      return yield* fail(
        "UNPROCESSABLE",
        `${input.mergeMethod === "SQUASH" ? "Squash" : "Rebase"} merges are not allowed on this repository.`
      )
    }
    yield* PullRequestMerge.merge(hosted.git, context.call.principal, number, {
      sha: input.expectedHeadOid ?? undefined,
      title: input.commitHeadline ?? undefined,
      message: input.commitBody ?? undefined
    }).pipe(Effect.mapError(toGraphQlError))
    return yield* payload(context, hosted, number, input)
  })
