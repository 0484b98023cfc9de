import { hash } from "node:crypto"
import { Effect } from "effect"
import * as Reply from "../reply/Reply.js"
import type { HostCall } from "./HostCall.js"

/** The part of a cache key that depends on the request: principal, media type, version and URL. */
const requestKey = ({ links, media, principal, request, version }: HostCall): string =>
  `${principal.id}\n${media}\n${version}\n${links.api}\n${request.url}`

/** The strong `ETag` of `key`. It differs by token and media type, as on GitHub. */
const etagOf = (request: string, key: string): string => `"${hash("sha256", `${request}\n${key}`, "hex")}"`

const withoutWeakness = (tag: string) => tag.trim().replace(/^W\//, "")

const matches = (call: HostCall, etag: string): boolean => {
  const header = call.request.headers["if-none-match"]
  if (header === undefined || header === etag) return header !== undefined
  return header.trim() === "*" || header.split(",").some((tag) => withoutWeakness(tag) === etag)
}

const notModified = (etag: string, headers: Reply.Headers): Reply.Reply =>
  Reply.make(304, { ...headers, etag })

/** A JSON reply to a read with an `ETag`, or 304 if the client's `ETag` matches. */
export const json = (call: HostCall, body: unknown, headers: Reply.Headers = {}): Reply.Reply => {
  const text = JSON.stringify(body)
  const etag = etagOf(requestKey(call), text)
  return matches(call, etag) ? notModified(etag, headers) : Reply.fromText(200, text, { ...headers, etag })
}

/**
 * A reply that the URL and `key` (object ids) determine completely. It comes from the reply cache if possible. `make`
 * does not run if the client's `ETag` matches or the reply is cached. Requests for a reply that is being made wait for
 * it.
 */
export const cached = <E, R>(
  call: HostCall,
  key: string,
  make: Effect.Effect<Reply.Reply, E, R>,
  givenEtag?: string
): Effect.Effect<Reply.Reply, E, R> =>
  Effect.suspend(() => {
    const request = requestKey(call)
    const { replyCache } = call.host
    const known = (): Effect.Effect<Reply.Reply> | undefined => {
      const entry = replyCache.get(request, key)
      if (entry === undefined) return undefined
      return Effect.succeed(matches(call, entry.etag) ? notModified(entry.etag, {}) : entry.reply)
    }
    const found = known()
    if (found !== undefined) return found
    const etag = givenEtag ?? etagOf(request, key)
    if (matches(call, etag)) return Effect.succeed(notModified(etag, {}))
    const made = Effect.map(make, (body) => {
      const reply = { ...body, headers: { ...body.headers, etag } }
      replyCache.set(request, key, etag, reply)
      return reply
    })
    return replyCache.making.withLock(etag)(
      Effect.suspend((): Effect.Effect<Reply.Reply, E, R> => known() ?? made)
    )
  })
