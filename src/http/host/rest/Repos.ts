import { Array, Effect, Option } from "effect"
import * as AccountsApi from "../../../store/remote/github/api/Accounts.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import { may } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import * as Listing from "../repository/Listing.js"
import type { Hosted, Named } from "../repository/Repositories.js"
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
  (call: Call): Route.Answer =>
    Effect.gen(function* () {
      const { repositories } = call.host
      const visible = yield* repositories.visible(call.principal)
      const wanted = visible.filter((named) => belongs(call, named))
      const { headers, items } = Pages.slice(call, Pages.asked(call), wanted)
      const shown = yield* Effect.forEach(items, (named) =>
        Listing.shown(
          named,
          Effect.flatMap(repositories.reading(call.principal, named.owner, named.name), (hosted) =>
            repository(call, hosted)
          )
        )
      )
      return Conditional.json(call, Array.getSomes(shown), headers)
    })

const create = Route.signedIn(AccountsApi.createOwnRepository, function* (call, login) {
  const { principal } = call
  const owner = call.parameters["org"] ?? login
  const body = yield* JsonBody.of(call, AccountsApi.createRepositoryOfOrganization)
  const { name: typed, private: given } = yield* body.get("name", "private")
  const name = RepositoryCreation.nameFrom(typed)
  const hidden = given ?? (yield* body.get("visibility")).visibility === "private"
  const { auto_init: initial = false, description = null } = yield* body.get("description", "auto_init")
  const readme = ({ git }: Hosted) => {
    const content = Buffer.from(`# ${name}\n${description === null ? "" : `${description}\n`}`)
    const author = People.personOf(principal)
    const commit = {
      message: "Initial commit",
      author,
      committer: author,
      changes: [{ _tag: "Put" as const, path: "README.md", content }]
    }
    return Effect.flatMap(git.defaultBranch, (branch) =>
      git.commitNext(branch, () => Effect.succeed({ commit: Option.some(commit), result: undefined }))
    )
  }
  const made = yield* RepositoryCreation.make(
    call.host.repositories,
    principal,
    { owner, name },
    { private: hidden, description },
    initial ? readme : undefined
  )
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
