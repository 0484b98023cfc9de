import { isUtf8 } from "node:buffer"
import type { IncomingMessage } from "node:http"
import { createGunzip } from "node:zlib"
import {
  FileSystem,
  HttpIncomingMessage,
  type HttpServerError,
  type HttpServerRequest
} from "@effect/platform"
import { NodeStream } from "@effect/platform-node"
import { Effect, Option, Stream } from "effect"
import * as Fields from "./Fields.js"
import { badRequest, Problem } from "./Problem.js"

const tooLarge = new Problem({ status: 413, message: "The request body is too large." })

/** Why a body could not be read. */
export const refused = (error: HttpServerError.RequestError): Problem => {
  const cause = error.cause
  const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined
  if (status === 408) return new Problem({ status: 408, message: "The request body did not arrive in time." })
  return status === 413 || /maxBytes|body size/i.test(String(cause))
    ? tooLarge
    : badRequest("The request body could not be read.")
}

/** How often the bytes of a JSON body are in memory at once: as they came, as text, and as strings in it. */
export const copies = 3

/** A body that must be a JSON object in UTF-8, of at most `maxBytes`; nothing at all is an empty object. */
export const json = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<Fields.Fields, Problem> =>
  Number(request.headers["content-length"] ?? 0) > maxBytes
    ? Effect.fail(tooLarge)
    : request.text.pipe(
        // What is no UTF-8 was read as this character, which may also stand there as it is.
        Effect.filterOrElse(
          (text) => !text.includes("\uFFFD"),
          (text) => Effect.map(request.arrayBuffer, (bytes) => (isUtf8(new Uint8Array(bytes)) ? text : "?"))
        ),
        Effect.mapError(refused),
        HttpIncomingMessage.withMaxBodySize(Option.some(FileSystem.Size(maxBytes))),
        Effect.flatMap((text) => (text === "" ? Effect.succeed({}) : Fields.parse(text)))
      )

/** A body as it arrives, unpacked when it is gzipped, cut off with 413 past `maxBytes` of what is unpacked. */
export const stream = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Stream.Stream<Uint8Array, Problem> => {
  const arriving = Stream.mapError(request.stream, refused)
  const plain = /\bgzip\b/i.test(request.headers["content-encoding"] ?? "")
    ? NodeStream.pipeThroughSimple(arriving, () => createGunzip()).pipe(
        Stream.catchAllCause(
          (): Stream.Stream<Uint8Array | string, Problem> =>
            Stream.fail(badRequest("The request body could not be unpacked."))
        )
      )
    : arriving
  return Stream.suspend(() => {
    let size = 0
    return Stream.mapEffect(plain, (chunk) => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk
      size += bytes.length
      return size > maxBytes ? Effect.fail(tooLarge) : Effect.succeed(bytes)
    })
  })
}

/** What is read of a body that nobody wants. */
const mostDropped = 64 * 1024 * 1024
const dropping = "2 seconds"

/**
 * Reads away a body that was answered without being read, where the connection is to close. Closed with bytes still on
 * their way it would be reset, and the client could lose the answer.
 */
export const drop = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> => {
  const { complete, readableEnded } = request.source as IncomingMessage
  const closes = /\bclose\b/i.test(request.headers["connection"] ?? "")
  if (!closes || complete || readableEnded || request.headers["expect"] !== undefined) return Effect.void
  let size = 0
  return Stream.runForEachWhile(request.stream, (chunk) => {
    size += chunk.length
    return Effect.succeed(size < mostDropped)
  }).pipe(Effect.timeout(dropping), Effect.ignore)
}
