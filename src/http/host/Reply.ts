import { isUtf8 } from "node:buffer"
import { createHash } from "node:crypto"
import { HttpServerResponse } from "@effect/platform"
import { Effect } from "effect"
import type { Call } from "./Call.js"

type Headers = Readonly<Record<string, string>>

/** What keeps hostile bytes of a repository from running on the host's origin. */
export const inert: Headers = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox"
}

const jsonType = "application/json; charset=utf-8"

/** Text stays text until it is sent, in one piece with its head. */
const written = (status: number, text: string, headers: Headers) =>
  HttpServerResponse.raw(text, { status, headers: { "content-type": jsonType, ...headers } })

/** The validator of what `key` stands for: strong, and different for each token and media type, as on GitHub. */
export const etagOf = (call: Call, key: string): string =>
  `"${createHash("sha256")
    .update(
      `${call.principal.id}\n${call.media}\n${call.version}\n${call.links.api}\n${call.request.url}\n${key}`
    )
    .digest("hex")}"`

const matches = (call: Call, etag: string): boolean => {
  const asked = call.request.headers["if-none-match"]
  if (asked === undefined) return false
  const bare = (tag: string) => tag.trim().replace(/^W\//, "")
  return asked.trim() === "*" || asked.split(",").some((tag) => bare(tag) === bare(etag))
}

const notModified = (etag: string, headers: Headers) =>
  HttpServerResponse.empty({ status: 304, headers: { ...headers, etag } })

/** A JSON answer to a read, with its validator; 304 where the client has it already. */
export const json = (
  call: Call,
  body: unknown,
  headers: Headers = {}
): HttpServerResponse.HttpServerResponse => {
  const text = JSON.stringify(body)
  const etag = etagOf(call, text)
  return matches(call, etag) ? notModified(etag, headers) : written(200, text, { ...headers, etag })
}

/** A JSON answer to a write, or one that no cache may keep. */
export const plain = (
  status: number,
  body: unknown,
  headers: Headers = {}
): HttpServerResponse.HttpServerResponse => written(status, JSON.stringify(body), headers)

/** An answer that is wholly told by `key` (object ids): where the client has it, `make` is not run. */
export const keyed = <E, R>(
  call: Call,
  key: string,
  make: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
  etag: string = etagOf(call, key)
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> =>
  matches(call, etag)
    ? Effect.succeed(notModified(etag, {}))
    : Effect.map(make, HttpServerResponse.setHeader("etag", etag))

export const fromJson = (body: unknown, headers: Headers = {}): HttpServerResponse.HttpServerResponse =>
  written(200, JSON.stringify(body), headers)

/** Bytes of a repository: as text where they are text, and never as anything that a browser would run. */
export const bytes = (content: Uint8Array, headers: Headers = {}): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.uint8Array(content, {
    contentType:
      isUtf8(content) && !content.includes(0) ? "text/plain; charset=utf-8" : "application/octet-stream",
    headers: { ...inert, ...headers }
  })

export const noContent = HttpServerResponse.empty({ status: 204 })
