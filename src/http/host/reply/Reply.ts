import { HttpServerResponse } from "@effect/platform"
import { type Cause, Effect, Stream } from "effect"

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
const logBrokenReply = (cause: Cause.Cause<unknown>) => Effect.logWarning("An answer broke off", cause)

/** The platform's response, of a reply whose headers are complete. */
export const toResponse = ({ body, headers, status }: Reply): HttpServerResponse.HttpServerResponse =>
  body === undefined
    ? HttpServerResponse.empty({ status, headers })
    : typeof body === "string"
      ? HttpServerResponse.raw(body, { status, headers })
      : body instanceof Uint8Array
        ? HttpServerResponse.uint8Array(body, { status, headers })
        : HttpServerResponse.stream(Stream.tapErrorCause(body, logBrokenReply), { status, headers })

/** What keeps hostile bytes of a repository from running on the host's origin. */
export const inert: Headers = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; sandbox"
}

export const jsonType = "application/json; charset=utf-8"

/** A JSON text as an answer. */
export const fromText = (status: number, text: string, headers: Headers): Reply => ({
  status,
  headers: { "content-type": jsonType, ...headers },
  body: text
})

/** A JSON answer to a write, or one that no cache may keep. */
export const json = (status: number, body: unknown, headers: Headers = {}): Reply =>
  fromText(status, JSON.stringify(body), headers)

export const okJson = (body: unknown, headers: Headers = {}): Reply =>
  fromText(200, JSON.stringify(body), headers)

export const text = (content: string, contentType: string): Reply =>
  make(200, { "content-type": contentType }, content)

/** Bytes of a repository: as text where they are text, and never as anything that a browser would run. */
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
