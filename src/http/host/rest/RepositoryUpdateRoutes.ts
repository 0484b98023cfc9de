import { Effect, Option } from "effect"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Accounts.js"
import { unprocessable } from "../reply/HostError.js"
import * as Reply from "../reply/Reply.js"
import * as GitCommand from "../repository/GitCommand.js"
import type { HostedRepository } from "../repository/Repositories.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as JsonFields from "../request/JsonFields.js"
import * as Route from "../request/Route.js"
import { descriptionProblem } from "./RepositoryCreation.js"
import { repository } from "./RepositoryView.js"

const invalid = (field: string, message: string) =>
  unprocessable("Validation Failed", [{ resource: "Repository", field, code: "custom", message }])

/** Settings that the host does not have. Enabling one is an error. */
const refusedFlags = ["archived", "has_issues", "has_projects", "has_wiki", "is_template"]

const setDefault = ({ git }: HostedRepository, branch: string) =>
  git.withExclusiveAccess(
    Effect.gen(function* () {
      const name = `refs/heads/${branch}`
      if (!isRefName(name) || Option.isNone(yield* git.ref(name)))
        return yield* invalid("default_branch", `The branch ${branch.slice(0, 255)} was not found.`)
      yield* GitCommand.text(git, ["symbolic-ref", "HEAD", name])
    })
  )

/** This route does not open the repository: removal waits until no request has it open. */
const remove = (call: HostCall): Route.HandlerEffect =>
  Effect.as(
    call.host.repositories.remove(call.principal, call.parameters["owner"]!, call.parameters["repo"]!),
    Reply.noContent
  )

export const routes: ReadonlyArray<Route.Route> = [
  Route.administer(Api.updateRepository, function* (call, hosted) {
    const body = yield* JsonBody.readDeclared(call, Api.updateRepository)
    const { name } = yield* body.get("name")
    if (name !== undefined && name !== hosted.name)
      return yield* invalid("name", "This host does not support renaming repositories.")
    for (const flag of refusedFlags)
      if (yield* JsonFields.boolean(body.fields, flag))
        return yield* invalid(flag, `This host does not have ${flag}.`)
    const { visibility } = yield* body.get("visibility")
    if (visibility !== undefined && visibility !== "public" && visibility !== "private")
      return yield* invalid("visibility", "visibility must be public or private.")
    const { description, private: given } = yield* body.get("private", "description")
    const hidden = given ?? (visibility === undefined ? undefined : visibility === "private")
    const problem = descriptionProblem(description ?? null)
    if (problem !== undefined) return yield* invalid("description", problem)
    const { default_branch: branch } = yield* body.get("default_branch")
    if (branch !== undefined && branch !== (yield* hosted.git.defaultBranch))
      yield* setDefault(hosted, branch)
    // Other settings keep their current values, which another request may have changed meanwhile.
    const metadata = yield* call.host.repositories.update(hosted, {
      ...(hidden === undefined ? {} : { private: hidden }),
      ...(description === undefined ? {} : { description })
    })
    return Reply.json(200, yield* repository(call, { ...hosted, metadata }))
  }),
  Route.make(Api.deleteRepository, remove)
]
