import { Chunk, Effect, Option, Stream } from "effect"
import { trim } from "../../../domain/text/TrimText.js"
import * as Api from "../../../store/remote/github/api/Commits.js"
import { badRequest, emptyRepository, notFound, type Problem, unprocessable } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import { isPath } from "../repository/Names.js"
import * as Programs from "../repository/Programs.js"
import * as Revision from "../repository/Revision.js"
import * as Conditional from "../request/Conditional.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"
import * as Counts from "./Counts.js"
import * as Differ from "./Differ.js"
import * as Patches from "./Patches.js"

/** GitHub shows this many files of a commit on a page, and this many on all pages. */
const pageOfFiles = 300
const mostFiles = 3000

const moment = (text: string | null): Effect.Effect<string | undefined, Problem> => {
  if (text === null || text === "") return Effect.void as Effect.Effect<undefined>
  const millis = Date.parse(text)
  return Number.isNaN(millis)
    ? Effect.fail(badRequest("since and until must be timestamps in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ."))
    : Effect.succeed(Counts.moment(millis))
}

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listCommits, function* (call, { fullName, git }) {
    if (yield* Revision.isEmpty(git)) return yield* emptyRepository
    const from = call.query.get("sha") || (yield* git.defaultBranch)
    const start = yield* Revision.commitOf(git, from)
    if (Option.isNone(start)) return yield* notFound
    const page = Pages.asked(call)
    const path = trim(call.query.get("path") ?? "", /\//)
    const asked = call.query.get("author") || undefined
    const author = asked?.includes("@") ? `<${asked}>` : asked
    const since = yield* moment(call.query.get("since"))
    const until = yield* moment(call.query.get("until"))
    const answer = Effect.gen(function* () {
      // Git takes each line as one more author, and an empty one as everybody.
      if ((path !== "" && !isPath(path)) || /[\n\0]/.test(author ?? "")) return Reply.fromJson([])
      const which = { path, since, until, author }
      const log = git.log(start.value.commit, {
        ...which,
        path: path === "" ? undefined : path,
        limit: page.size + 1,
        skip: page.skip
      })
      const found = Chunk.toReadonlyArray(yield* Stream.runCollect(Programs.historyStream(log)))
      const commits = found.slice(0, page.size).map((info) => CommitView.commit(call.links, fullName, info))
      const more = found.length > page.size
      const last = more
        ? Option.some(Math.ceil((yield* Counts.commits(git, start.value.commit, which)) / page.size))
        : Option.none()
      return Reply.fromJson(commits, Pages.links(call, page, more, last))
    })
    return yield* Conditional.keyed(call, `log ${start.value.commit}`, answer)
  }),
  Route.read(Api.getCommit, function* (call, { fullName, git }) {
    if (yield* Revision.isEmpty(git)) return yield* emptyRepository
    const ref = call.parameters["ref"] ?? ""
    const found = yield* Revision.commitOf(git, ref)
    if (Option.isNone(found)) return yield* unprocessable(`No commit found for SHA: ${ref.slice(0, 255)}`)
    const info = found.value
    if (call.media === "sha") {
      return yield* Conditional.keyed(
        call,
        info.commit,
        Effect.succeed(Reply.text(info.commit, "application/vnd.github.sha; charset=utf-8")),
        `"${info.commit}"`
      )
    }
    const page = Pages.asked(call, pageOfFiles, pageOfFiles)
    const before = Option.fromNullable(info.parents[0])
    const answer = Effect.gen(function* () {
      const all = yield* Differ.changes(git, before, info.commit)
      const { headers, items } = Pages.slice(call, page, all.slice(0, mostFiles))
      const additions = all.reduce((sum, file) => sum + file.additions, 0)
      const deletions = all.reduce((sum, file) => sum + file.deletions, 0)
      const body = {
        ...CommitView.commit(call.links, fullName, info),
        stats: { total: additions + deletions, additions, deletions },
        files: yield* Differ.view(
          call,
          fullName,
          git,
          { before, after: info.commit, ref: info.commit },
          items
        )
      }
      return Reply.fromJson(body, headers)
    })
    const text = Patches.reply(call, git, before, info.commit, ["-1", info.commit])
    return yield* Conditional.keyed(call, `commit ${info.commit}`, Patches.isAsked(call) ? text : answer)
  })
]
