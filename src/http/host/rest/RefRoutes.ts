import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { trimEnd } from "../../../domain/text/TrimText.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Refs.js"
import { emptyRepository, HostError, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import * as GitProcessSlots from "../repository/GitProcessSlots.js"
import { isNewRefName, isWritableRefName } from "../repository/HostNames.js"
import { nodeId } from "../repository/NodeId.js"
import * as RefCreation from "../repository/RefCreation.js"
import * as RefLock from "../repository/RefLock.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"

const absent = unprocessable("Reference does not exist")
const notForward = unprocessable("Update is not a fast forward")
const isDefault = unprocessable("Cannot delete the default branch")

const view = (call: HostCall, { fullName, git }: HostedRepository, name: string, oid: Oid) =>
  Effect.map(git.objectInfo(oid), (info) => {
    const type = Option.isSome(info) ? info.value.type : "commit"
    return {
      ref: name,
      node_id: nodeId("Ref", fullName, name),
      url: `${Links.repository(call.links, fullName)}/git/${Links.encodePath(name)}`,
      object: { sha: oid, type, url: `${Links.repository(call.links, fullName)}/git/${type}s/${oid}` }
    }
  })

const exists = (git: GitRepository, text: unknown): Effect.Effect<Oid, HostError | RemoteError> =>
  Effect.gen(function* () {
    const oid = RevisionLookup.oidFrom(text)
    if (oid === undefined) {
      return yield* unprocessable(
        "The sha parameter must be exactly 40 characters and contain only [0-9a-f]."
      )
    }
    const info = yield* git.objectInfo(oid)
    if (Option.isNone(info)) return yield* unprocessable("Object does not exist")
    return oid
  })

const listed = (call: HostCall, hosted: HostedRepository, prefix: string) =>
  Effect.gen(function* () {
    const plain = prefix === "refs/" || isRefName(trimEnd(prefix, /[/.]/))
    const found = plain ? yield* hosted.git.refs(prefix) : []
    return yield* Pagination.json(call, found, ({ name, oid }) => view(call, hosted, name, oid))
  })

const matching = Route.read(Api.listMatchingRefs, function* (call, hosted) {
  if (yield* RevisionLookup.isEmpty(hosted.git)) return yield* emptyRepository
  return yield* listed(call, hosted, `refs/${call.parameters["ref"] ?? ""}`)
})

const at = "/repos/{owner}/{repo}/git"

/** GitHub's legacy form: returns the ref with this exact name, or else all refs with this prefix. */
const legacy = Route.read({ ...Api.getRef, path: `${at}/refs/{+ref}` }, function* (call, hosted) {
  if (yield* RevisionLookup.isEmpty(hosted.git)) return yield* emptyRepository
  const name = `refs/${call.parameters["ref"] ?? ""}`
  const exact = isRefName(name) ? yield* hosted.git.ref(name) : Option.none()
  if (Option.isSome(exact)) return ConditionalReply.json(call, yield* view(call, hosted, name, exact.value))
  const some = name === "refs/" || (isRefName(name) && (yield* hosted.git.refs(`${name}/`)).length > 0)
  if (!some) return yield* notFound
  return yield* listed(call, hosted, name)
})

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.getRef, function* (call, hosted) {
    const name = `refs/${call.parameters["ref"] ?? ""}`
    if (yield* RevisionLookup.isEmpty(hosted.git)) return yield* emptyRepository
    const oid = isRefName(name) ? yield* hosted.git.ref(name) : Option.none()
    if (Option.isNone(oid)) return yield* notFound
    return ConditionalReply.json(call, yield* view(call, hosted, name, oid.value))
  }),
  matching,
  { ...matching, path: `${at}/matching-refs` },
  { ...legacy, path: `${at}/refs`, docs: Api.listMatchingRefs.docs },
  legacy,
  Route.write(Api.createRef, function* (call, hosted) {
    const body = yield* JsonBody.readDeclared(call, Api.createRef)
    const { ref: name, sha } = yield* body.get("ref", "sha")
    if (yield* RevisionLookup.isEmpty(hosted.git)) return yield* emptyRepository
    if (!name.startsWith("refs/") || name.split("/").length < 3) {
      return yield* unprocessable("Reference name must start with 'refs/' and have at least two slashes")
    }
    if (!isNewRefName(name)) return yield* unprocessable(`${name.slice(0, 255)} is not a valid ref name.`)
    const oid = yield* exists(hosted.git, sha)
    const duplicate = unprocessable("Reference already exists")
    if (Option.isSome(yield* hosted.git.ref(name))) return yield* duplicate
    yield* needsCommit(hosted.git, name, oid)
    yield* RefCreation.create(hosted.git, name, oid, {
      taken: duplicate,
      clash: unprocessable("Reference update failed")
    })
    const created = yield* view(call, hosted, name, oid)
    return Reply.json(201, created, { location: created.url })
  }),
  Route.write(Api.updateRef, function* (call, hosted) {
    const { git } = hosted
    const body = yield* JsonBody.readDeclared(call, Api.updateRef)
    const { force = false, sha } = yield* body.get("sha", "force")
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    const name = `refs/${call.parameters["ref"] ?? ""}`
    // The fast-forward check uses the ref's value at the time of the update.
    const oid = yield* RefLock.optimistic(git, name, (move) =>
      Effect.gen(function* () {
        const current = isWritableRefName(name) ? yield* git.ref(name) : Option.none()
        if (Option.isNone(current)) return yield* absent
        const oid = yield* exists(git, sha)
        yield* needsCommit(git, name, oid)
        if (current.value === oid) return oid
        if (!force && !(yield* GitProcessSlots.withHistorySlot(git.isAncestor(current.value, oid))))
          return yield* notForward
        yield* move(name, current, Option.some(oid))
        return oid
      })
    )
    return Reply.json(200, yield* view(call, hosted, name, oid))
  }),
  Route.write(Api.deleteRef, function* (call, { git }) {
    const name = `refs/${call.parameters["ref"] ?? ""}`
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    // Changing the default branch needs the same lock, so the ref cannot become the default branch meanwhile.
    yield* RefLock.withLock(git, name, (move) =>
      Effect.gen(function* () {
        const current = isWritableRefName(name) ? yield* git.ref(name) : Option.none()
        if (Option.isNone(current)) return yield* absent
        if (name === `refs/heads/${yield* git.defaultBranch}`) return yield* isDefault
        yield* move(name, current, Option.none())
      })
    )
    return Reply.noContent
  })
]

/** Fails if a branch would point to an object that is not a commit. */
const needsCommit = (git: GitRepository, name: string, oid: Oid) =>
  Effect.gen(function* () {
    const info = yield* git.objectInfo(oid)
    if (name.startsWith("refs/heads/") && Option.isSome(info) && info.value.type !== "commit") {
      return yield* new HostError({ status: 422, message: "Object is not a commit" })
    }
  })
