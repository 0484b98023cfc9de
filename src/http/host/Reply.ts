import { isUtf8 } from "node:buffer"
import { hash } from "node:crypto"
import { HttpServerResponse } from "@effect/platform"
import { type Cause, Effect, Stream } from "effect"
import type { Call } from "./Call.js"

export type Headers = Readonly<Record<string, string>>

/** What a handler answers. The host adds the headers of every answer, and only then makes it the platform's. */
export interface Reply {
  readonly status: number
  /** In lower case. */
  readonly headers: Headers
  /** Text is sent in one piece with its head. */
  readonly body: string | Uint8Array | Stream.Stream<Uint8Array, unknown> | undefined
}

export const make = (status: number, headers: Headers = {}, body?: Reply["body"]): Reply => ({
  status,
  headers,
  body
})

// The head has gone out by then: all that is left is to cut the connection, and to say why.
const brokenOff = (cause: Cause.Cause<unknown>) => Effect.logWarning("An answer broke off", cause)

/** The platform's response, of a reply whose headers are complete. */
export const toResponse = ({ body, headers, status }: Reply): HttpServerResponse.HttpServerResponse =>
  body === undefined
    ? HttpServerResponse.empty({ status, headers })
    : typeof body === "string"
      ? HttpServerResponse.raw(body, { status, headers })
      : body instanceof Uint8Array
        ? HttpServerResponse.uint8Array(body, { status, headers })
        : HttpServerResponse.stream(Stream.tapErrorCause(body, brokenOff), { status, headers })

/** What keeps hostile bytes of a repository from running on the host's origin. */
export const inert: Headers = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox"
}

export const jsonType = "application/json; charset=utf-8"

const written = (status: number, text: string, headers: Headers): Reply => ({
  status,
  headers: { "content-type": jsonType, ...headers },
  body: text
})

/** What an answer depends on beside the objects that it shows: who asks, in what form, and by which address. */
const askedBy = ({ links, media, principal, request, version }: Call): string =>
  `${principal.id}\n${media}\n${version}\n${links.api}\n${request.url}`

/** The validator of what `key` stands for: strong, and different for each token and media type, as on GitHub. */
export const etagOf = (call: Call, key: string): string =>
  `"${hash("sha256", `${askedBy(call)}\n${key}`, "hex")}"`

const bare = (tag: string) => tag.trim().replace(/^W\//, "")

const matches = (call: Call, etag: string): boolean => {
  const asked = call.request.headers["if-none-match"]
  if (asked === undefined) return false
  return asked === etag || asked.trim() === "*" || asked.split(",").some((tag) => bare(tag) === bare(etag))
}

const notModified = (etag: string, headers: Headers): Reply => make(304, { ...headers, etag })

/** A JSON answer to a read, with its validator; 304 where the client has it already. */
export const json = (call: Call, body: unknown, headers: Headers = {}): Reply => {
  const text = JSON.stringify(body)
  const etag = etagOf(call, text)
  return matches(call, etag) ? notModified(etag, headers) : written(200, text, { ...headers, etag })
}

/** A JSON answer to a write, or one that no cache may keep. */
export const plain = (status: number, body: unknown, headers: Headers = {}): Reply =>
  written(status, JSON.stringify(body), headers)

/**
 * An answer that is wholly told by its address and `key` (object ids): where the client has it, `make` is not run, and
 * where the host remembers it, neither.
 */
export const keyed = <E, R>(
  call: Call,
  key: string,
  make: Effect.Effect<Reply, E, R>,
  given?: string
): Effect.Effect<Reply, E, R> =>
  Effect.suspend(() => {
    const asked = askedBy(call)
    const known = call.answers.get(asked, key)
    if (known !== undefined) {
      return Effect.succeed(matches(call, known.etag) ? notModified(known.etag, {}) : known.reply)
    }
    const etag = given ?? `"${hash("sha256", `${asked}\n${key}`, "hex")}"`
    if (matches(call, etag)) return Effect.succeed(notModified(etag, {}))
    return Effect.map(make, (made) => {
      const reply = { ...made, headers: { ...made.headers, etag } }
      call.answers.set(asked, key, etag, reply)
      return reply
    })
  })

export const fromJson = (body: unknown, headers: Headers = {}): Reply =>
  written(200, JSON.stringify(body), headers)

export const text = (content: string, contentType: string): Reply =>
  make(200, { "content-type": contentType }, content)

/** Bytes of a repository: as text where they are text, and never as anything that a browser would run. */
export const bytes = (content: Uint8Array): Reply =>
  make(
    200,
    {
      ...inert,
      "content-type":
        isUtf8(content) && !content.includes(0) ? "text/plain; charset=utf-8" : "application/octet-stream"
    },
    content
  )

export const noContent = make(204)
