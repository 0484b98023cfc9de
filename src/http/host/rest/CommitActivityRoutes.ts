import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Api from "../../../store/remote/github/api/CommitActivity.js"
import { emptyRepository, type HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as BranchRoutes from "./BranchRoutes.js"
import { repository } from "./RepositoryView.js"

const noCommit = (ref: string) => unprocessable(`No commit found for SHA: ${ref.slice(0, 255)}`)

const orNotFound = () => notFound
const orEmpty = (ref: string, { git }: HostedRepository) =>
  Effect.flatMap(RevisionLookup.isEmpty(git), (empty) => (empty ? emptyRepository : noCommit(ref)))

type Absent = (ref: string, hosted: HostedRepository) => Effect.Effect<never, HostError | RemoteError>

/** A route about the commit of a ref. */
const commitRoute = (
  operation: Route.RouteOperation,
  absent: Absent,
  answer: (call: HostCall, hosted: HostedRepository, info: CommitInfo) => Route.HandlerEffect
) =>
  Route.read(operation, function* (call, hosted) {
    const { commit_sha, ref = commit_sha ?? "" } = call.parameters
    const found = yield* RevisionLookup.commitOf(hosted.git, ref)
    if (Option.isNone(found)) return yield* absent(ref, hosted)
    return yield* answer(call, hosted, found.value)
  })

const constantRoute = (operation: Route.RouteOperation, absent: Absent, body: unknown) =>
  commitRoute(operation, absent, (call) => Effect.succeed(ConditionalReply.json(call, body)))

const combined = (call: HostCall, hosted: HostedRepository, { commit }: CommitInfo): Route.HandlerEffect =>
  Effect.map(repository(call, hosted), (shown) => {
    const url = `${Links.repository(call.links, hosted.fullName)}/commits/${commit}`
    return ConditionalReply.json(call, {
      state: "pending",
      statuses: [],
      sha: commit,
      total_count: 0,
      repository: shown,
      commit_url: url,
      url: `${url}/status`
    })
  })

const branches = (
  call: HostCall,
  { fullName, git }: HostedRepository,
  { commit }: CommitInfo
): Route.HandlerEffect =>
  Effect.flatMap(git.refs("refs/heads/"), (refs) =>
    Pagination.json(
      call,
      refs.filter(({ oid }) => oid === commit),
      (ref) => Effect.succeed(BranchRoutes.short(call, fullName, ref))
    )
  )

/** Routes for statuses, checks, comments and pull requests of commits. The host stores none of them. */
export const routes: ReadonlyArray<Route.Route> = [
  commitRoute(Api.getCombinedStatus, orNotFound, combined),
  constantRoute(Api.listStatuses, orNotFound, []),
  constantRoute(Api.listCheckRuns, noCommit, { total_count: 0, check_runs: [] }),
  constantRoute(Api.listCheckSuites, noCommit, { total_count: 0, check_suites: [] }),
  constantRoute(Api.listComments, noCommit, []),
  constantRoute(Api.listPullRequests, orEmpty, []),
  commitRoute(Api.listBranchesForHead, orEmpty, branches)
]
