import { Effect, Option } from "effect"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Accounts.js"
import { unprocessable } from "../reply/Problem.js"
import * as Reply from "../reply/Reply.js"
import * as Git from "../repository/Git.js"
import type { Hosted } from "../repository/Repositories.js"
import type { Call } from "../request/Call.js"
import * as Fields from "../request/Fields.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Route from "../request/Route.js"
import { descriptionProblem } from "./RepositoryCreation.js"
import { repository } from "./RepositoryView.js"

const invalid = (field: string, message: string) =>
  unprocessable("Validation Failed", [{ resource: "Repository", field, code: "custom", message }])

/** What would be asked for in vain, and must not look as if it had been done. */
const refusedFlags = ["archived", "has_issues", "has_projects", "has_wiki", "is_template"]

const setDefault = ({ git }: Hosted, branch: string) =>
  git.withExclusiveAccess(
    Effect.gen(function* () {
      const name = `refs/heads/${branch}`
      if (!isRefName(name) || Option.isNone(yield* git.ref(name)))
        return yield* invalid("default_branch", `The branch ${branch.slice(0, 255)} was not found.`)
      yield* Git.text(git, ["symbolic-ref", "HEAD", name])
    })
  )

/** Opens the repository itself: a request that has it open would wait for its own end. */
const remove = (call: Call): Route.Answer =>
  Effect.as(
    call.host.repositories.remove(call.principal, call.parameters["owner"]!, call.parameters["repo"]!),
    Reply.noContent
  )

export const routes: ReadonlyArray<Route.Route> = [
  Route.administer(Api.updateRepository, function* (call, hosted) {
    const body = yield* JsonBody.of(call, Api.updateRepository)
    const { name } = yield* body.get("name")
    if (name !== undefined && name !== hosted.name)
      return yield* invalid("name", "This host does not rename repositories.")
    for (const flag of refusedFlags)
      if (yield* Fields.boolean(body.fields, flag))
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
    // What is not asked for may be changed by another request meanwhile.
    const settings = yield* call.host.repositories.update(hosted, {
      ...(hidden === undefined ? {} : { private: hidden }),
      ...(description === undefined ? {} : { description })
    })
    return Reply.plain(200, yield* repository(call, { ...hosted, settings }))
  }),
  Route.make(Api.deleteRepository, remove)
]
