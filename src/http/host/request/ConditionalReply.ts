import { hash } from "node:crypto"
import { Effect } from "effect"
import * as Reply from "../reply/Reply.js"
import type { HostCall } from "./HostCall.js"

/** What an answer depends on beside the objects that it shows: who asks, in what form, and by which address. */
const requestKey = ({ links, media, principal, request, version }: HostCall): string =>
  `${principal.id}\n${media}\n${version}\n${links.api}\n${request.url}`

/** The validator of what `key` stands for: strong, and different for each token and media type, as on GitHub. */
export const etagOf = (call: HostCall, key: string): string =>
  `"${hash("sha256", `${requestKey(call)}\n${key}`, "hex")}"`

const bare = (tag: string) => tag.trim().replace(/^W\//, "")

const matches = (call: HostCall, etag: string): boolean => {
  const asked = call.request.headers["if-none-match"]
  if (asked === undefined) return false
  return asked === etag || asked.trim() === "*" || asked.split(",").some((tag) => bare(tag) === bare(etag))
}

const notModified = (etag: string, headers: Reply.Headers): Reply.Reply =>
  Reply.make(304, { ...headers, etag })

/** A JSON answer to a read, with its validator; 304 where the client has it already. */
export const json = (call: HostCall, body: unknown, headers: Reply.Headers = {}): Reply.Reply => {
  const text = JSON.stringify(body)
  const etag = etagOf(call, text)
  return matches(call, etag) ? notModified(etag, headers) : Reply.fromText(200, text, { ...headers, etag })
}

/**
 * An answer that is wholly told by its address and `key` (object ids): where the client has it, `make` is not run, and
 * where the host remembers it, neither.
 */
export const cached = <E, R>(
  call: HostCall,
  key: string,
  make: Effect.Effect<Reply.Reply, E, R>,
  given?: string
): Effect.Effect<Reply.Reply, E, R> =>
  Effect.suspend(() => {
    const asked = requestKey(call)
    const known = call.host.replyCache.get(asked, key)
    if (known !== undefined) {
      return Effect.succeed(matches(call, known.etag) ? notModified(known.etag, {}) : known.reply)
    }
    const etag = given ?? `"${hash("sha256", `${asked}\n${key}`, "hex")}"`
    if (matches(call, etag)) return Effect.succeed(notModified(etag, {}))
    return Effect.map(make, (made) => {
      const reply = { ...made, headers: { ...made.headers, etag } }
      call.host.replyCache.set(asked, key, etag, reply)
      return reply
    })
  })
