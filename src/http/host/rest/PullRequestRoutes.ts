import { Effect, Option } from "effect"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Pulls.js"
import { HostError, type HostErrorDetail, notFound, unprocessable } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as PullRequests from "../repository/PullRequests.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as FileChanges from "./FileChanges.js"
import * as PatchReply from "./PatchReply.js"
import * as PullRequestMerge from "./PullRequestMerge.js"
import * as PullRequestView from "./PullRequestView.js"
import * as RepositoryView from "./RepositoryView.js"

const numberOf = (call: HostCall, name = "pull_number") => {
  const text = call.parameters[name] ?? ""
  return /^[1-9]\d{0,8}$/.test(text) ? Effect.succeed(Number(text)) : notFound
}

const findRequired = (call: HostCall, { git }: HostedRepository) =>
  Effect.flatMap(numberOf(call), (number) =>
    Effect.flatMap(PullRequests.find(git, number), (found) =>
      Option.match(found, { onNone: () => notFound, onSome: Effect.succeed })
    )
  )

const invalid = (detail: Omit<HostErrorDetail, "resource">) =>
  unprocessable("Validation Failed", [{ resource: "PullRequest", ...detail }])

const noCommits = (base: string, head: string) =>
  invalid({ code: "custom", message: `No commits between ${base} and ${head}` })

const alreadyExists = (owner: string, head: string) =>
  invalid({ code: "custom", message: `A pull request already exists for ${owner}:${head}.` })

/** The full representation of a pull request. */
const fullView = (call: HostCall, hosted: HostedRepository, request: PullRequests.PullRequest) =>
  Effect.gen(function* () {
    const { git } = hosted
    const repository = yield* RepositoryView.repository(call, hosted)
    const { from, oids } = yield* PullRequestMerge.commitsOf(git, request)
    const files = yield* FileChanges.list(git, from, request.headCommit)
    const isOpen = request.state === "open"
    const mergeable = isOpen ? yield* PullRequestMerge.isMergeable(git, request) : null
    return {
      ...PullRequestView.simple(call, hosted, repository, request),
      merged: request.merged !== null,
      mergeable,
      rebaseable: null,
      mergeable_state: mergeable === null ? "unknown" : mergeable ? "clean" : "dirty",
      merged_by: request.merged?.by == null ? null : RepositoryView.user(call.links, request.merged.by),
      comments: 0,
      review_comments: 0,
      maintainer_can_modify: false,
      commits: oids.length,
      additions: files.reduce((sum, { additions }) => sum + additions, 0),
      deletions: files.reduce((sum, { deletions }) => sum + deletions, 0),
      changed_files: files.length
    }
  })

const orNotFound = <A>(found: Option.Option<readonly [PullRequests.PullRequest, A]>) =>
  Option.isSome(found) ? Effect.succeed(found.value[0]) : notFound

/** Parses a branch name with an optional `OWNER:` prefix. Undefined if the owner is another account. */
const branchOf = (owner: string, text: string): string | undefined => {
  const at = text.indexOf(":")
  if (at < 0) return text
  return text.slice(0, at).toLowerCase() === owner.toLowerCase() ? text.slice(at + 1) : undefined
}

/** Creates a pull request for REST and GraphQL. */
export const create = (
  call: HostCall,
  { git, owner }: HostedRepository,
  given: {
    readonly title: string
    readonly head: string
    readonly base: string
    readonly body: string | null
    readonly draft: boolean
  }
) =>
  Effect.gen(function* () {
    const tip = (branch: string | undefined) =>
      branch !== undefined && isRefName(`refs/heads/${branch}`)
        ? git.ref(`refs/heads/${branch}`)
        : Effect.succeedNone
    const head = branchOf(owner, given.head)
    const [headCommit, baseCommit] = [yield* tip(head), yield* tip(given.base)]
    if (given.title.trim() === "") {
      return yield* invalid({ field: "title", code: "missing_field" })
    }
    if (Option.isNone(headCommit)) return yield* invalid({ field: "head", code: "invalid" })
    if (Option.isNone(baseCommit)) return yield* invalid({ field: "base", code: "invalid" })
    if (yield* git.isAncestor(headCommit.value, baseCommit.value)) {
      return yield* noCommits(given.base, head!)
    }
    const created = yield* PullRequests.create(git, {
      ...given,
      author: call.principal.login ?? "anonymous",
      head: head!,
      headCommit: headCommit.value,
      baseCommit: baseCommit.value
    })
    if (Option.isSome(created)) return created.value
    return yield* alreadyExists(owner, head!)
  })

/** Updates the title, body, state or base of a pull request. */
export const update = (
  { git, owner }: HostedRepository,
  number: number,
  given: {
    readonly title?: string | undefined
    readonly body?: string | undefined
    readonly state?: string | undefined
    readonly base?: string | undefined
  }
) =>
  Effect.flatMap(PullRequests.list(git), (known) =>
    PullRequests.change(git, number, (request) => applyUpdate(git, owner, known, request, given))
  )

const applyUpdate = (
  git: GitRepository,
  owner: string,
  known: ReadonlyArray<PullRequests.PullRequest>,
  request: PullRequests.PullRequest,
  { base, body, state, title }: Parameters<typeof update>[2]
) =>
  Effect.gen(function* () {
    if (title !== undefined && title.trim() === "") {
      return yield* invalid({ field: "title", code: "missing_field" })
    }
    if (state !== undefined && state !== "open" && state !== "closed") {
      return yield* invalid({ field: "state", code: "invalid" })
    }
    const baseAt =
      base === undefined || !isRefName(`refs/heads/${base}`)
        ? Option.none()
        : yield* git.ref(`refs/heads/${base}`)
    if (base !== undefined && Option.isNone(baseAt)) {
      return yield* invalid({ field: "base", code: "invalid" })
    }
    const isRebased = base !== undefined && base !== request.base
    if (isRebased && Option.isSome(baseAt) && (yield* git.isAncestor(request.headCommit, baseAt.value))) {
      return yield* noCommits(base, request.head)
    }
    const wanted = { ...request, base: base ?? request.base }
    const isReopened = state === "open" && request.state === "closed"
    if (isReopened) {
      const tips = yield* PullRequests.tipsOf(git, wanted)
      if (request.merged !== null || Option.isNone(tips.head) || Option.isNone(tips.base)) {
        return yield* invalid({ field: "state", code: "invalid", message: "state cannot be changed." })
      }
    }
    const isOpen = (state ?? request.state) === "open"
    if (isOpen && (isRebased || isReopened) && PullRequests.isTaken(known, wanted)) {
      return yield* alreadyExists(owner, request.head)
    }
    const at = yield* PullRequests.now
    const next: PullRequests.PullRequest = {
      ...request,
      title: title ?? request.title,
      body: body ?? request.body,
      base: wanted.base,
      baseCommit: isRebased ? Option.getOrElse(baseAt, () => request.baseCommit) : request.baseCommit,
      state: state ?? request.state,
      closedAt: isReopened ? null : state === "closed" ? (request.closedAt ?? at) : request.closedAt,
      updatedAt: at
    }
    return [next, undefined] as const
  })

const filtered = (call: HostCall, all: ReadonlyArray<PullRequests.PullRequest>, owner: string) => {
  const state = call.query.get("state") ?? "open"
  const base = call.query.get("base")
  const asked = call.query.get("head")
  const head = asked === null || !asked.includes(":") ? null : (branchOf(owner, asked) ?? "")
  const found = all.filter(
    (one) =>
      (state === "all" || one.state === state) &&
      (base === null || one.base === base) &&
      (head === null || one.head === head)
  )
  const sort = call.query.get("sort") ?? "created"
  const direction = call.query.get("direction") ?? (sort === "created" ? "desc" : "asc")
  const sorted =
    sort === "updated"
      ? found.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0))
      : found
  return direction === "asc" ? sorted.toReversed() : sorted
}

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listPulls, function* (call, hosted) {
    const all = filtered(call, yield* PullRequests.list(hosted.git), hosted.owner)
    const repository = yield* RepositoryView.repository(call, hosted)
    return yield* Pagination.json(call, all, (one) =>
      Effect.succeed(PullRequestView.simple(call, hosted, repository, one))
    )
  }),
  Route.write(Api.createPull, function* (call, hosted) {
    const body = yield* JsonBody.readDeclared(call, Api.createPull)
    const given = yield* body.get("title", "head", "base", "body", "draft")
    const created = yield* create(call, hosted, {
      ...given,
      title: given.title ?? "",
      body: given.body ?? null,
      draft: given.draft ?? false
    })
    const view = yield* fullView(call, hosted, created)
    return Reply.json(201, view, { location: view.url })
  }),
  Route.read(Api.getPull, function* (call, hosted) {
    const request = yield* findRequired(call, hosted)
    if (!PatchReply.isRequested(call))
      return ConditionalReply.json(call, yield* fullView(call, hosted, request))
    const { headCommit } = request
    const { base, from } = yield* PullRequestMerge.commitsOf(hosted.git, request)
    const range = Option.isNone(from) ? ["--root", headCommit] : [`${base}..${headCommit}`]
    const text = PatchReply.reply(call, hosted.git, from, headCommit, range)
    return yield* ConditionalReply.cached(call, `pull ${base} ${headCommit}`, text)
  }),
  Route.write(Api.updatePull, function* (call, hosted) {
    const number = yield* numberOf(call)
    const body = yield* JsonBody.readDeclared(call, Api.updatePull)
    const given = yield* body.get("title", "body", "state", "base")
    return Reply.json(
      200,
      yield* fullView(call, hosted, yield* orNotFound(yield* update(hosted, number, given)))
    )
  }),
  Route.read(Api.listPullFiles, function* (call, hosted) {
    const { fullName, git } = hosted
    const request = yield* findRequired(call, hosted)
    const { from } = yield* PullRequestMerge.commitsOf(git, request)
    const all = yield* FileChanges.list(git, from, request.headCommit)
    const { headers, items } = Pagination.slice(call, Pagination.requested(call), all.slice(0, 3000))
    const between = { before: from, after: request.headCommit, ref: request.headCommit }
    return ConditionalReply.json(call, yield* FileChanges.view(call, fullName, git, between, items), headers)
  }),
  Route.read(Api.listPullCommits, function* (call, hosted) {
    const { fullName, git } = hosted
    const { oids } = yield* PullRequestMerge.commitsOf(git, yield* findRequired(call, hosted))
    return yield* Pagination.json(call, oids, (oid) =>
      Effect.map(git.commit(oid), (info) => CommitView.commit(call.links, fullName, Option.getOrThrow(info)))
    )
  }),
  Route.read(Api.isPullMerged, function* (call, hosted) {
    const { merged } = yield* findRequired(call, hosted)
    return merged === null ? yield* notFound : Reply.noContent
  }),
  Route.write(Api.mergePull, function* (call, { git }) {
    const number = yield* numberOf(call)
    const body = yield* JsonBody.readDeclared(call, Api.mergePull)
    const given = yield* body.get("commit_title", "commit_message", "sha", "merge_method")
    const { merge_method: method = "merge" } = given
    if (method === "squash" || method === "rebase") {
      const message = `${method === "squash" ? "Squash" : "Rebase"} merges are not allowed on this repository.`
      return yield* new HostError({ status: 405, message })
    }
    const merged = yield* PullRequestMerge.merge(git, call.principal, number, {
      sha: given.sha,
      title: given.commit_title,
      message: given.commit_message
    })
    if (Option.isNone(merged)) return yield* notFound
    return Reply.json(200, { sha: merged.value, merged: true, message: "Pull Request successfully merged" })
  }),
  Route.write(Api.addLabels, function* (call, hosted) {
    const number = yield* numberOf(call, "issue_number")
    const body = yield* JsonBody.readDeclared(call, Api.addLabels)
    const given = (yield* body.get("labels")).labels ?? []
    const names = given.map((one) => (JsonFields.isObject(one) ? one["name"] : one))
    if (
      names.length === 0 ||
      !names.every((name): name is string => typeof name === "string" && name.trim() !== "")
    ) {
      return yield* unprocessable("Validation Failed", [
        { resource: "Label", field: "name", code: "invalid" }
      ])
    }
    const request = yield* orNotFound(
      yield* PullRequests.change(hosted.git, number, (one) =>
        Effect.succeed([{ ...one, labels: [...new Set([...one.labels, ...names])] }, undefined] as const)
      )
    )
    return Reply.json(
      200,
      request.labels.map((name) => PullRequestView.label(call, hosted.fullName, name))
    )
  })
]
