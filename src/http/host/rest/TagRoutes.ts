import { Clock, Effect, Option } from "effect"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { toIsoDate } from "../../../git/GitObject.js"
import { isRefName } from "../../../git/Names.js"
import * as Api from "../../../store/remote/github/api/Tags.js"
import { emptyRepository, notFound, unprocessable } from "../reply/HostError.js"
import * as Links from "../reply/Links.js"
import * as Reply from "../reply/Reply.js"
import { nodeId } from "../repository/NodeId.js"
import type { HostedRepository } from "../repository/Repositories.js"
import * as RevisionLookup from "../repository/RevisionLookup.js"
import * as ConditionalReply from "../request/ConditionalReply.js"
import type { HostCall } from "../request/HostCall.js"
import * as JsonBody from "../request/JsonBody.js"
import * as Pagination from "../request/Pagination.js"
import * as Route from "../request/Route.js"
import * as Signatures from "./Signatures.js"

/** Parses an annotated tag object. */
export const parse = (content: Uint8Array) => {
  const text = Buffer.from(content).toString()
  const end = text.indexOf("\n\n")
  const head = (end < 0 ? text : text.slice(0, end)).split("\n")
  const line = (name: string) => head.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1) ?? ""
  const tagger = /^(.*) <(.*)> (-?\d+) [+-]\d{4}$/.exec(line("tagger"))
  return {
    object: line("object"),
    type: line("type"),
    tag: line("tag"),
    message: end < 0 ? "" : text.slice(end + 2),
    tagger:
      tagger === null
        ? undefined
        : {
            name: tagger[1]!,
            email: tagger[2]!,
            date: toIsoDate(Number(tagger[3]))
          }
  }
}

const view = (call: HostCall, { fullName }: HostedRepository, sha: Oid, content: Uint8Array) => {
  const { message, object, tag, tagger, type } = parse(content)
  const git = `${Links.repository(call.links, fullName)}/git`
  return {
    node_id: nodeId("Tag", fullName, sha),
    tag,
    sha,
    url: `${git}/tags/${sha}`,
    message,
    tagger: tagger ?? { name: "", email: "", date: "" },
    object: { sha: object, type, url: `${git}/${type}s/${object}` },
    verification: { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null }
  }
}

/** Formats a time zone offset in minutes as Git does. */
const zone = (minutes: number): string => {
  const size = Math.abs(minutes)
  const digits = String(Math.floor(size / 60) * 100 + (size % 60)).padStart(4, "0")
  return `${minutes < 0 ? "-" : "+"}${digits}`
}

export const routes: ReadonlyArray<Route.Route> = [
  Route.read(Api.listTags, function* (call, { fullName, git }) {
    const base = Links.repository(call.links, fullName)
    return yield* Pagination.json(call, yield* git.refs("refs/tags/"), ({ name, oid }) =>
      Effect.map(git.resolve(name), (peeled) => {
        const sha = Option.getOrElse(peeled, () => oid)
        return {
          name: name.slice("refs/tags/".length),
          commit: { sha, url: `${base}/commits/${sha}` },
          zipball_url: `${base}/zipball/${Links.encodePath(name)}`,
          tarball_url: `${base}/tarball/${Links.encodePath(name)}`,
          node_id: nodeId("Ref", fullName, name)
        }
      })
    )
  }),
  Route.read(Api.getTag, function* (call, hosted) {
    const sha = RevisionLookup.oidFrom(call.parameters["tag_sha"])
    const found = sha === undefined ? Option.none() : yield* hosted.git.object(sha)
    if (sha === undefined || Option.isNone(found) || found.value.type !== "tag") return yield* notFound
    return ConditionalReply.json(call, view(call, hosted, sha, found.value.content))
  }),
  Route.write(Api.createTag, function* (call, hosted) {
    const { git } = hosted
    const body = yield* JsonBody.readDeclared(call, Api.createTag)
    const { message, object: target, tag, type } = yield* body.get("tag", "message", "type", "object")
    const object = RevisionLookup.oidFrom(target)
    if (yield* RevisionLookup.isEmpty(git)) return yield* emptyRepository
    if (!isRefName(`refs/tags/${tag}`))
      return yield* unprocessable(`${tag.slice(0, 200)} is not a valid tag name.`)
    const info = object === undefined ? Option.none() : yield* git.objectInfo(object)
    if (object === undefined || Option.isNone(info) || info.value.type !== type) {
      return yield* unprocessable("Object does not exist")
    }
    const given =
      (yield* Signatures.signatureFrom(body.fields, "tagger")) ??
      Signatures.signatureOfPrincipal(call.principal)
    const who = yield* Signatures.withDate(given, yield* Clock.currentTimeMillis)
    const content = Buffer.from(
      `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${who.name} <${who.email}> ${who.seconds} ${zone(who.offset)}\n\n${message}`
    )
    const sha = yield* git.writeObject("tag", content)
    const created = view(call, hosted, sha, content)
    return Reply.json(201, created, { location: created.url })
  })
]
