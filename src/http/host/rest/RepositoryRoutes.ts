import { Array, Effect, Option } from "effect"
import * as AccountsApi from "../../../store/remote/github/api/Accounts.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import { isGranted } from "../access/Principal.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import type { HostedRepository, RepositoryInfo } from "../repository/Repositories.js"
import * as RepositoryListing from "../repository/RepositoryListing.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as RepositoryCreation from "./RepositoryCreation.js"
import { repository } from "./RepositoryView.js"
import * as Signatures from "./Signatures.js"

const list =
  (belongs: (call: HostCall, named: RepositoryInfo) => boolean) =>
  (call: HostCall): Route.HandlerEffect =>
    Effect.gen(function* () {
      const { repositories } = call.host
      const visible = yield* repositories.listVisible(call.principal)
      const wanted = visible.filter((named) => belongs(call, named))
      const { headers, items } = Pagination.slice(call, Pagination.requested(call), wanted)
      const shown = yield* Effect.forEach(items, (named) =>
        RepositoryListing.shownOrOmitted(
          named,
          Effect.flatMap(repositories.openForRead(call.principal, named.owner, named.name), (hosted) =>
            repository(call, hosted)
          )
        )
      )
      return ConditionalReply.json(call, Array.getSomes(shown), headers)
    })

const create = Route.signedIn(AccountsApi.createOwnRepository, function* (call, login) {
  const { principal } = call
  const owner = call.parameters["org"] ?? login
  const body = yield* JsonBody.readDeclared(call, AccountsApi.createRepositoryOfOrganization)
  const { name: typed, private: given } = yield* body.get("name", "private")
  const name = RepositoryCreation.nameFrom(typed)
  const hidden = given ?? (yield* body.get("visibility")).visibility === "private"
  const { auto_init: initial = false, description = null } = yield* body.get("description", "auto_init")
  const readme = ({ git }: HostedRepository) => {
    const content = Buffer.from(`# ${name}\n${description === null ? "" : `${description}\n`}`)
    const author = Signatures.signatureOfPrincipal(principal)
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
  const created = yield* RepositoryCreation.make(
    call.host.repositories,
    principal,
    { owner, name },
    { private: hidden, description },
    initial ? readme : undefined
  )
  return Reply.json(201, yield* repository(call, created), {
    location: Links.repository(call.links, created.fullName)
  })
})

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(RepositoryApi.getRepository, function* (call, hosted) {
    return ConditionalReply.json(call, yield* repository(call, hosted))
  }),
  Route.signedIn(
    AccountsApi.listOwnRepositories,
    list(({ principal }, { fullName }) => isGranted(principal, "read", fullName))
  ),
  Route.make(
    AccountsApi.listRepositoriesOfUser,
    list((call, { owner, metadata }) => owner === call.parameters["username"] && !metadata.private)
  ),
  Route.make(
    AccountsApi.listRepositoriesOfOrganization,
    list((call, { owner }) => owner === call.parameters["org"])
  ),
  Route.make(
    AccountsApi.listPublicRepositories,
    list((_, { metadata }) => !metadata.private)
  ),
  create,
  { ...create, ...AccountsApi.createRepositoryOfOrganization }
]
