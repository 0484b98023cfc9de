import { Chunk, Effect, Option, Stream } from "effect"
import { trim } from "../../../domain/text/TrimText.js"
import * as Api from "../../../store/remote/github/api/Commits.js"
import { badRequest, emptyRepository, type HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import { isPath } from "../repository/HostNames.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as CommitCount from "./CommitCount.js"
import * as CommitView from "./CommitView.js"
import * as FileChanges from "./FileChanges.js"
import * as PatchReply from "./PatchReply.js"

/** GitHub's maximum number of files of a commit per page, and in total. */
const pageOfFiles = 300
const mostFiles = 3000

const moment = (text: string | null): Effect.Effect<string | undefined, HostError> => {
  if (text === null || text === "") return Effect.void as Effect.Effect<undefined>
  const millis = Date.parse(text)
  return Number.isNaN(millis)
    ? Effect.fail(badRequest("since and until must be timestamps in ISO 8601 format: YYYY-MM-DDTHH:MM:SSZ."))
    : Effect.succeed(CommitCount.gitDate(millis))
}

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listCommits, function* (call, { fullName, git }) {
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    const from = call.query.get("sha") || (yield* git.defaultBranch)
    const start = yield* RevisionLookup.commitOf(git, from)
    if (Option.isNone(start)) return yield* notFound
    const page = Pagination.requested(call)
    const path = trim(call.query.get("path") ?? "", /\//)
    const asked = call.query.get("author") || undefined
    const author = asked?.includes("@") ? `<${asked}>` : asked
    const since = yield* moment(call.query.get("since"))
    const until = yield* moment(call.query.get("until"))
    const reply = Effect.gen(function* () {
      // `git log --author` treats each line as another author, and an empty line as all authors.
      if ((path !== "" && !isPath(path)) || /[\n\0]/.test(author ?? "")) return Reply.okJson([])
      const which = { path, since, until, author }
      const log = git.log(start.value.commit, {
        ...which,
        path: path === "" ? undefined : path,
        limit: page.size + 1,
        skip: page.skip
      })
      const found = Chunk.toReadonlyArray(
        yield* Stream.runCollect(GitProcessSlots.streamWithHistorySlot(log))
      )
      const commits = found.slice(0, page.size).map((info) => CommitView.commit(call.links, fullName, info))
      const more = found.length > page.size
      const last = more
        ? Option.some(
            Math.ceil((yield* CommitCount.countCommits(git, start.value.commit, which)) / page.size)
          )
        : Option.none()
      return Reply.okJson(commits, Pagination.linkHeader(call, page, more, last))
    })
    return yield* ConditionalReply.cached(call, `log ${start.value.commit}`, reply)
  }),
  Route.read(Api.getCommit, function* (call, { fullName, git }) {
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    const ref = call.parameters["ref"] ?? ""
    const found = yield* RevisionLookup.commitOf(git, ref)
    if (Option.isNone(found)) return yield* unprocessable(`No commit found for SHA: ${ref.slice(0, 255)}`)
    const info = found.value
    if (call.media === "sha") {
      return yield* ConditionalReply.cached(
        call,
        info.commit,
        Effect.succeed(Reply.text(info.commit, "application/vnd.github.sha; charset=utf-8")),
        `"${info.commit}"`
      )
    }
    const page = Pagination.requested(call, pageOfFiles, pageOfFiles)
    const before = Option.fromNullable(info.parents[0])
    const reply = Effect.gen(function* () {
      const all = yield* FileChanges.list(git, before, info.commit)
      const { headers, items } = Pagination.slice(call, page, all.slice(0, mostFiles))
      const additions = all.reduce((sum, file) => sum + file.additions, 0)
      const deletions = all.reduce((sum, file) => sum + file.deletions, 0)
      const body = {
        ...CommitView.commit(call.links, fullName, info),
        stats: { total: additions + deletions, additions, deletions },
        files: yield* FileChanges.view(
          call,
          fullName,
          git,
          { before, after: info.commit, ref: info.commit },
          items
        )
      }
      return Reply.okJson(body, headers)
    })
    const patches = PatchReply.reply(call, git, before, info.commit, ["-1", info.commit])
    return yield* ConditionalReply.cached(
      call,
      `commit ${info.commit}`,
      PatchReply.isRequested(call) ? patches : reply
    )
  })
]
