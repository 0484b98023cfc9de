import { Effect, Option } from "effect"
import * as Api from "../../../store/remote/github/api/Presentation.js"
import * as Reply from "../reply/Reply.js"
import * as GitCommand from "../repository/GitCommand.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import { user } from "./RepositoryView.js"
import { loginOf } from "./Signatures.js"

interface Contributor {
  readonly contributions: number
  readonly name: string
  readonly email: string
}

const parse = (line: string): ReadonlyArray<Contributor> => {
  const [, count = "", name = "", email = ""] = /^\s*(\d+)\t(.*) <(.*)>$/.exec(line) ?? []
  return count === "" ? [] : [{ contributions: Number(count), name, email }]
}

const always = (body: unknown) => (call: HostCall) => ConditionalReply.json(call, body)

const listed = (call: HostCall, { git }: HostedRepository, from: string) =>
  Effect.map(
    GitProcessSlots.withHistorySlot(
      GitCommand.text(git, ["shortlog", "-sne", from, "--"], { hasSlot: true })
    ),
    (text) => {
      const anonymous = /^(1|true)$/.test(call.query.get("anon") ?? "")
      const all = text.split("\n").flatMap(parse)
      const wanted = all.filter(({ email }) => anonymous || loginOf(email) !== undefined)
      const { headers, items } = Pagination.slice(call, Pagination.requested(call), wanted)
      const shown = items.map(({ contributions, email, name }) => {
        const login = loginOf(email)
        return login === undefined
          ? { email, name, type: "Anonymous", contributions }
          : { ...user(call.links, login), contributions }
      })
      return Reply.okJson(shown, headers)
    }
  )

/** Routes about a repository as a whole. The host detects no languages and has neither topics nor releases. */
export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listLanguages, always({})),
  Route.read(Api.listTopics, always({ names: [] })),
  Route.read(Api.listReleases, always([])),
  Route.read(Api.listContributors, function* (call, hosted) {
    const head = yield* RevisionLookup.commitOf(hosted.git, "HEAD")
    if (Option.isNone(head)) return Reply.noContent
    const { commit } = head.value
    return yield* ConditionalReply.cached(call, `contributors ${commit}`, listed(call, hosted, commit))
  })
]
