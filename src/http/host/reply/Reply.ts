import { HttpServerResponse } from "@effect/platform"
import { type Cause, Effect, Stream } from "effect"

export type Headers = Readonly<Record<string, string>>

/** The reply of a handler. The host adds the common headers before it converts the reply to a platform response. */
export interface Reply {
  readonly status: number
  /** Names are in lower case. */
  readonly headers: Headers
  /** A string is sent in one write with the headers. */
  readonly body: string | Uint8Array | Stream.Stream<Uint8Array, unknown> | undefined
}

export const make = (status: number, headers: Headers = {}, body?: Reply["body"]): Reply => ({
  status,
  headers,
  body
})

// The headers are already sent, so the connection can only be closed and the cause logged.
const logBrokenReply = (cause: Cause.Cause<unknown>) => Effect.logWarning("A reply was cut off", cause)

/** Converts a reply with complete headers to a platform response. */
export const toResponse = ({ body, headers, status }: Reply): HttpServerResponse.HttpServerResponse =>
  body === undefined
    ? HttpServerResponse.empty({ status, headers })
    : typeof body === "string"
      ? HttpServerResponse.raw(body, { status, headers })
      : body instanceof Uint8Array
        ? HttpServerResponse.uint8Array(body, { status, headers })
        : HttpServerResponse.stream(Stream.tapErrorCause(body, logBrokenReply), { status, headers })

/** Headers that prevent a browser from running repository content on the host's origin. */
export const inert: Headers = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox"
}

export const jsonType = "application/json; charset=utf-8"

/** A reply with JSON text. */
export const fromText = (status: number, text: string, headers: Headers): Reply => ({
  status,
  headers: { "content-type": jsonType, ...headers },
  body: text
})

/** A JSON reply without a cache validator. */
export const json = (status: number, body: unknown, headers: Headers = {}): Reply =>
  fromText(status, JSON.stringify(body), headers)

export const okJson = (body: unknown, headers: Headers = {}): Reply =>
  fromText(200, JSON.stringify(body), headers)

export const text = (content: string, contentType: string): Reply =>
  make(200, { "content-type": contentType }, content)

/** A reply with repository content, as plain text or as octets, never as a type that a browser would run. */
export const bytes = (
  content: Uint8Array | Stream.Stream<Uint8Array, unknown>,
  isText: boolean,
  length?: number
): Reply =>
  make(
    200,
    {
      ...inert,
      "content-type": isText ? "text/plain; charset=utf-8" : "application/octet-stream",
      ...(length === undefined ? {} : { "content-length": String(length) })
    },
    content
  )

export const noContent = make(204)
