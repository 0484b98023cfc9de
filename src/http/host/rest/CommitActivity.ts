import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/StoreError.js"
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

const at =
  (
    absent: (ref: string, hosted: Hosted) => Effect.Effect<never, Problem | RemoteError>,
    answer: (call: Call, hosted: Hosted, info: CommitInfo) => Route.Answer
  ) =>
  (call: Call, hosted: Hosted): Route.Answer =>
    Effect.gen(function* () {
      const { commit_sha, ref = commit_sha ?? "" } = call.parameters
      const found = yield* Revision.commitOf(hosted.git, ref)
      if (Option.isNone(found)) return yield* absent(ref, hosted)
      return yield* answer(call, hosted, found.value)
    })

const orNotFound = () => notFound
const orEmpty = (ref: string, { git }: Hosted) =>
  Effect.flatMap(Revision.isEmpty(git), (empty) => (empty ? emptyRepository : noCommit(ref)))

const always = (body: unknown) => (call: Call) => Effect.succeed(Conditional.json(call, body))

const combined = (call: Call, hosted: Hosted, { commit }: CommitInfo): Route.Answer =>
  Effect.gen(function* () {
    const url = `${Links.repository(call.links, hosted.fullName)}/commits/${commit}`
    return Conditional.json(call, {
      state: "pending",
      statuses: [],
      sha: commit,
      total_count: 0,
      repository: yield* repository(call, hosted),
      commit_url: url,
      url: `${url}/status`
    })
  })

const branches = (call: Call, { fullName, git }: Hosted, { commit }: CommitInfo): Route.Answer =>
  Effect.map(git.refs("refs/heads/"), (refs) => {
    const heads = refs.filter(({ oid }) => oid === commit)
    const { headers, items } = Pages.slice(call, Pages.asked(call), heads)
    const shown = items.map((ref) => Branches.short(call, fullName, ref))
    return Conditional.json(call, shown, headers)
  })

/** What belongs to a commit without being part of it. The host keeps no statuses, checks, comments or pull requests. */
export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getCombinedStatus, at(orNotFound, combined)),
  Route.read(Api.listStatuses, at(orNotFound, always([]))),
  Route.read(Api.listCheckRuns, at(noCommit, always({ total_count: 0, check_runs: [] }))),
  Route.read(Api.listCheckSuites, at(noCommit, always({ total_count: 0, check_suites: [] }))),
  Route.read(Api.listComments, at(noCommit, always([]))),
  Route.read(Api.listPullRequests, at(orEmpty, always([]))),
  Route.read(Api.listBranchesForHead, at(orEmpty, branches))
]
