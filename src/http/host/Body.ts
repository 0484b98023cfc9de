import { isUtf8 } from "node:buffer"
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

const refused = (error: HttpServerError.RequestError): Problem => {
  const cause = error.cause
  const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined
  if (status === 408) return new Problem({ status: 408, message: "The request body did not arrive in time." })
  return status === 413 || /maxBytes|body size/i.test(String(cause))
    ? tooLarge
    : badRequest("The request body could not be read.")
}

/** The bytes of a body of at most `maxBytes`. */
export const read = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<Buffer, Problem> =>
  Number(request.headers["content-length"] ?? 0) > maxBytes
    ? Effect.fail(tooLarge)
    : request.arrayBuffer.pipe(
        Effect.mapBoth({ onFailure: refused, onSuccess: (bytes) => Buffer.from(bytes) }),
        HttpIncomingMessage.withMaxBodySize(Option.some(FileSystem.Size(maxBytes)))
      )

/** A body that must be a JSON object in UTF-8; nothing at all is an empty object. */
export const json = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<Fields.Fields, Problem> =>
  Effect.flatMap(read(request, maxBytes), (bytes) => {
    if (bytes.length === 0) return Effect.succeed({})
    return isUtf8(bytes) ? Fields.parse(bytes.toString()) : Effect.fail(badRequest("Problems parsing JSON"))
  })

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
