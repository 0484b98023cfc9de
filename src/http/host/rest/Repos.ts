import { Effect, Option } from "effect"
import * as AccountsApi from "../../../store/remote/github/api/Accounts.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import { may } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import type { Named } from "../repository/Repositories.js"
import type { Call } from "../request/Call.js"
import * as Conditional from "../request/Conditional.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Pages from "../request/Pages.js"
import * as Route from "../request/Route.js"
import * as People from "./People.js"
import * as RepositoryCreation from "./RepositoryCreation.js"
import { repository } from "./RepositoryView.js"

const list =
  (belongs: (call: Call, named: Named) => boolean) =>
  (call: Call): Route.Answer => {
    const { repositories } = call.host
    return Effect.flatMap(repositories.visible(call.principal), (visible) =>
      Pages.json(
        call,
        visible.filter((named) => belongs(call, named)),
        ({ name, owner }) =>
          Effect.flatMap(repositories.reading(call.principal, owner, name), (hosted) =>
            repository(call, hosted)
          )
      )
    )
  }

const create = Route.signedIn(AccountsApi.createOwnRepository, function* (call, login) {
  const { principal } = call
  const owner = call.parameters["org"] ?? login
  const body = yield* JsonBody.of(call, AccountsApi.createRepositoryOfOrganization)
  const { name: typed, private: given } = yield* body.get("name", "private")
  const name = RepositoryCreation.nameFrom(typed)
  const hidden = given ?? (yield* body.get("visibility")).visibility === "private"
  const { auto_init: initial = false, description = null } = yield* body.get("description", "auto_init")
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
  Route.read(RepositoryApi.getRepository, function* (call, hosted) {
    return Conditional.json(call, yield* repository(call, hosted))
  }),
  Route.signedIn(
    AccountsApi.listOwnRepositories,
    list(({ principal }, { fullName }) => may(principal, "read", fullName))
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
  create,
  { ...create, ...AccountsApi.createRepositoryOfOrganization }
]
