import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { CommitInfo } from "../../../git/Commit.js"
import * as Api from "../../../store/remote/github/api/CommitActivity.js"
import * as Links from "../reply/Links.js"
import { emptyRepository, notFound, type Problem, unprocessable } from "../reply/Problem.js"
import type { Hosted } from "../repository/Repositories.js"
import * as Revision from "../repository/Revision.js"
import type { Call } from "../request/Call.js"
import * as Conditional from "../request/Conditional.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import * as Branches from "./Branches.js"
import { repository } from "./RepositoryView.js"

const noCommit = (ref: string) => unprocessable(`No commit found for SHA: ${ref.slice(0, 255)}`)

const orNotFound = () => notFound
const orEmpty = (ref: string, { git }: Hosted) =>
  Effect.flatMap(Revision.isEmpty(git), (empty) => (empty ? emptyRepository : noCommit(ref)))

type Absent = (ref: string, hosted: Hosted) => Effect.Effect<never, Problem | RemoteError>

/** The route of what is told of the commit that a ref names. */
const at = (
  operation: Route.Operation,
  absent: Absent,
  answer: (call: Call, hosted: Hosted, info: CommitInfo) => Route.Answer
) =>
  Route.read(operation, function* (call, hosted) {
    const { commit_sha, ref = commit_sha ?? "" } = call.parameters
    const found = yield* Revision.commitOf(hosted.git, ref)
    if (Option.isNone(found)) return yield* absent(ref, hosted)
    return yield* answer(call, hosted, found.value)
  })

const always = (operation: Route.Operation, absent: Absent, body: unknown) =>
  at(operation, absent, (call) => Effect.succeed(Conditional.json(call, body)))

const combined = (call: Call, hosted: Hosted, { commit }: CommitInfo): Route.Answer =>
  Effect.map(repository(call, hosted), (shown) => {
    const url = `${Links.repository(call.links, hosted.fullName)}/commits/${commit}`
    return Conditional.json(call, {
      state: "pending",
      statuses: [],
      sha: commit,
      total_count: 0,
      repository: shown,
      commit_url: url,
      url: `${url}/status`
    })
  })

const branches = (call: Call, { fullName, git }: Hosted, { commit }: CommitInfo): Route.Answer =>
  Effect.flatMap(git.refs("refs/heads/"), (refs) =>
    Pages.json(
      call,
      refs.filter(({ oid }) => oid === commit),
      (ref) => Effect.succeed(Branches.short(call, fullName, ref))
    )
  )

/** What belongs to a commit without being part of it. The host keeps no statuses, checks, comments or pull requests. */
export const routes: ReadonlyArray<Route.Route> = [
  at(Api.getCombinedStatus, orNotFound, combined),
  always(Api.listStatuses, orNotFound, []),
  always(Api.listCheckRuns, noCommit, { total_count: 0, check_runs: [] }),
  always(Api.listCheckSuites, noCommit, { total_count: 0, check_suites: [] }),
  always(Api.listComments, noCommit, []),
  always(Api.listPullRequests, orEmpty, []),
  at(Api.listBranchesForHead, orEmpty, branches)
]
