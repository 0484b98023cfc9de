import { Effect, Option } from "effect"
import type { Reference } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import * as BranchesApi from "../../../store/remote/github/api/Branches.js"
import * as RepositoryApi from "../../../store/remote/github/api/Repository.js"
import { HostError } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as CommitView from "./CommitView.js"

const unprotected = {
  enabled: false,
  required_status_checks: { enforcement_level: "off", contexts: [], checks: [] }
}

/** The short representation of a branch. */
export const short = (call: HostCall, fullName: string, { name, oid }: Reference) => ({
  name: name.slice("refs/heads/".length),
  commit: { sha: oid, url: `${Links.repository(call.links, fullName)}/commits/${oid}` },
  protected: false
})

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(BranchesApi.listBranches, function* (call, { fullName, git }) {
    const refs = call.query.get("protected") === "true" ? [] : yield* git.refs("refs/heads/")
    const base = `${Links.repository(call.links, fullName)}/branches`
    return yield* Pagination.json(call, refs, (ref) => {
      const branch = short(call, fullName, ref)
      const url = `${base}/${Links.encodePath(branch.name)}/protection`
      return Effect.succeed({ ...branch, protection: unprotected, protection_url: url })
    })
  }),
  Route.read(RepositoryApi.getBranch, function* (call, { fullName, git }) {
    const name = call.parameters["branch"] ?? ""
    const missing = new HostError({ status: 404, message: "Branch not found" })
    const oid = isRefName(name) ? yield* git.ref(`refs/heads/${name}`) : Option.none()
    const info = Option.isSome(oid) ? yield* git.commit(oid.value) : Option.none()
    if (Option.isNone(info)) return yield* missing
    const self = `${Links.repository(call.links, fullName)}/branches/${Links.encodePath(name)}`
    return ConditionalReply.json(call, {
      name,
      commit: CommitView.commit(call.links, fullName, info.value),
      _links: { self, html: Links.html(call.links, fullName, "tree", name) },
      protected: false,
      protection: unprotected,
      protection_url: `${self}/protection`
    })
  })
]
