import { Effect, Option } from "effect"
import type { Reference } from "../../../git/disk/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import type { Call } from "../Call.js"
import * as Conditional from "../Conditional.js"
import * as Links from "../Links.js"
import * as Pages from "../Pages.js"
import { Problem } from "../Problem.js"
import { Repositories } from "../Repositories.js"
import * as Route from "../Route.js"
import * as CommitView from "./CommitView.js"

const unprotected = {
  enabled: false,
  required_status_checks: { enforcement_level: "off", contexts: [], checks: [] }
}

/** A branch in short. */
export const short = (call: Call, fullName: string, { name, oid }: Reference) => ({
  name: name.slice("refs/heads/".length),
  commit: { sha: oid, url: `${Links.repository(call.links, fullName)}/commits/${oid}` },
  protected: false
})

export const routes = Effect.gen(function* () {
  const repositories = yield* Repositories
  const reading = (call: Call) =>
    repositories.reading(call.principal, call.parameters["owner"]!, call.parameters["repo"]!)

  const list = (call: Call): Route.Answer =>
    Effect.gen(function* () {
      const { fullName, git } = yield* reading(call)
      const refs = call.query.get("protected") === "true" ? [] : yield* git.refs("refs/heads/")
      const { headers, items } = Pages.slice(call, Pages.asked(call), refs)
      const base = `${Links.repository(call.links, fullName)}/branches`
      const branches = items.map((ref) => {
        const branch = short(call, fullName, ref)
        const url = `${base}/${Links.encodePath(branch.name)}/protection`
        return { ...branch, protection: unprotected, protection_url: url }
      })
      return Conditional.json(call, branches, headers)
    })

  const get = (call: Call): Route.Answer =>
    Effect.gen(function* () {
      const { fullName, git } = yield* reading(call)
      const name = call.parameters["branch"] ?? ""
      const missing = new Problem({ status: 404, message: "Branch not found" })
      const oid = isRefName(name) ? yield* git.ref(`refs/heads/${name}`) : Option.none()
      const info = Option.isSome(oid) ? yield* git.commit(oid.value) : Option.none()
      if (Option.isNone(info)) return yield* missing
      const self = `${Links.repository(call.links, fullName)}/branches/${Links.encodePath(name)}`
      return Conditional.json(call, {
        name,
        commit: CommitView.commit(call.links, fullName, info.value),
        _links: { self, html: Links.html(call.links, fullName, "tree", name) },
        protected: false,
        protection: unprotected,
        protection_url: `${self}/protection`
      })
    })

  return [
    Route.make("GET", "/repos/{owner}/{repo}/branches", "rest/branches/branches#list-branches", list),
    Route.make("GET", "/repos/{owner}/{repo}/branches/{branch*}", "rest/branches/branches#get-a-branch", get)
  ]
})
