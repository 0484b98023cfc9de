import { Effect, Option } from "effect"
import * as Api from "../../../store/remote/github/api/Presentation.js"
import * as Reply from "../reply/Reply.js"
import * as Git from "../repository/Git.js"
import * as Programs from "../repository/Programs.js"
import type { Hosted } from "../repository/Repositories.js"
import * as Revision from "../repository/Revision.js"
import type { Call } from "../request/Call.js"
import * as Conditional from "../request/Conditional.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import { loginOf } from "./People.js"
import { user } from "./RepositoryView.js"

interface Contributor {
  readonly contributions: number
  readonly name: string
  readonly email: string
}

const parse = (line: string): ReadonlyArray<Contributor> => {
  const [, count = "", name = "", email = ""] = /^\s*(\d+)\t(.*) <(.*)>$/.exec(line) ?? []
  return count === "" ? [] : [{ contributions: Number(count), name, email }]
}

const always = (body: unknown) => (call: Call) => Conditional.json(call, body)

const listed = (call: Call, { git }: Hosted, from: string) =>
  Effect.map(
    Programs.history(Git.text(git, ["shortlog", "-sne", from, "--"], { admitted: true })),
    (text) => {
      const anonymous = /^(1|true)$/.test(call.query.get("anon") ?? "")
      const all = text.split("\n").flatMap(parse)
      const wanted = all.filter(({ email }) => anonymous || loginOf(email) !== undefined)
      const { headers, items } = Pages.slice(call, Pages.asked(call), wanted)
      const shown = items.map(({ contributions, email, name }) => {
        const login = loginOf(email)
        return login === undefined
          ? { email, name, type: "Anonymous", contributions }
          : { ...user(call.links, login), contributions }
      })
      return Reply.fromJson(shown, headers)
    }
  )

/** What is told of a repository as a whole. The host detects no languages and has neither topics nor releases. */
export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listLanguages, always({})),
  Route.read(Api.listTopics, always({ names: [] })),
  Route.read(Api.listReleases, always([])),
  Route.read(Api.listContributors, function* (call, hosted) {
    const head = yield* Revision.commitOf(hosted.git, "HEAD")
    if (Option.isNone(head)) return Reply.noContent
    const { commit } = head.value
    return yield* Conditional.keyed(call, `contributors ${commit}`, listed(call, hosted, commit))
  })
]
