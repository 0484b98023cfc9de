import { Effect, Option } from "effect"
import * as AccountsApi from "../../../store/remote/github/api/Accounts.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import { may } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import { requiresAuthentication } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import type { Hosted, Named } from "../repository/Repositories.js"
import type { Call } from "../request/Call.js"
import * as Conditional from "../request/Conditional.js"
import * as Fields from "../request/Fields.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import * as People from "./People.js"
import * as RepositoryCreation from "./RepositoryCreation.js"
import { repository } from "./RepositoryView.js"

const get = (call: Call, hosted: Hosted): Route.Answer =>
  Effect.gen(function* () {
    return Conditional.json(call, yield* repository(call, hosted))
  })

const list =
  (belongs: (call: Call, named: Named) => boolean, authenticated = false) =>
  (call: Call): Route.Answer =>
    Effect.gen(function* () {
      if (authenticated && call.principal.login === undefined) return yield* requiresAuthentication
      const all = (yield* call.host.repositories.visible(call.principal)).filter((named) =>
        belongs(call, named)
      )
      const { headers, items } = Pages.slice(call, Pages.asked(call), all)
      const shown = yield* Effect.forEach(items, ({ name, owner }) =>
        Effect.flatMap(call.host.repositories.reading(call.principal, owner, name), (hosted) =>
          repository(call, hosted)
        )
      )
      return Conditional.json(call, shown, headers)
    })

const create = (call: Call): Route.Answer =>
  Effect.gen(function* () {
    const { principal } = call
    if (principal.login === undefined) return yield* requiresAuthentication
    const owner = call.parameters["org"] ?? principal.login
    const body = yield* JsonBody.read(call)
    const name = RepositoryCreation.nameFrom(yield* Fields.text(body, "name"))
    const hidden =
      (yield* Fields.boolean(body, "private")) ?? (yield* Fields.string(body, "visibility")) === "private"
    const description =
      (yield* Fields.string({ ...body, description: body["description"] ?? undefined }, "description")) ??
      null
    const initial = (yield* Fields.boolean(body, "auto_init")) ?? false
    const settings = { private: hidden, description }
    const made = yield* RepositoryCreation.make(call.host.repositories, principal, { owner, name }, settings)
    const { git } = made
    if (initial) {
      const content = Buffer.from(`# ${name}\n${description === null ? "" : `${description}\n`}`)
      const author = People.personOf(principal)
      yield* git.commitNext(yield* git.defaultBranch, () =>
        Effect.succeed({
          commit: Option.some({
            message: "Initial commit",
            author,
            committer: author,
            changes: [{ _tag: "Put" as const, path: "README.md", content }]
          }),
          result: undefined
        })
      )
    }
    return Reply.plain(201, yield* repository(call, made), {
      location: Links.repository(call.links, made.fullName)
    })
  })

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(RepositoryApi.getRepository, get),
  Route.make(
    AccountsApi.listOwnRepositories,
    list(({ principal }, { fullName }) => may(principal, "read", fullName), true)
  ),
  Route.make(
    AccountsApi.listRepositoriesOfUser,
    list((call, { owner, settings }) => owner === call.parameters["username"] && !settings.private)
  ),
  Route.make(
    AccountsApi.listRepositoriesOfOrganization,
    list((call, { owner }) => owner === call.parameters["org"])
  ),
  Route.make(
    AccountsApi.listPublicRepositories,
    list((_, { settings }) => !settings.private)
  ),
  Route.make(AccountsApi.createOwnRepository, create),
  Route.make(AccountsApi.createRepositoryOfOrganization, create)
]
