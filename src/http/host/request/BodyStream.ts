import type { IncomingMessage } from "node:http"
import { createGunzip } from "node:zlib"
import type { HttpServerError, HttpServerRequest } from "@effect/platform"
import { Duration, Effect, Option, Stream } from "effect"
import { NodeStream } from "../../../vendor/PlatformNode.js"
import { badRequest, HostError } from "../reply/HostError.js"
import type { HostCall } from "./HostCall.js"

export const tooLarge = new HostError({ status: 413, message: "The request body is too large." })

const timedOut = new HostError({ status: 408, message: "The request body did not arrive in time." })

/** The error reply of a body that could not be read. */
export const bodyError = (error: HttpServerError.RequestError): HostError => {
  const cause = error.cause
  const status = typeof cause === "object" && cause !== null && "status" in cause ? cause.status : undefined
  if (status === 408) return timedOut
  return status === 413 || /maxBytes|body size/i.test(String(cause))
    ? tooLarge
    : badRequest("The request body could not be read.")
}

/** The minimum rate in bytes per second at which a body must arrive after the time for a small body. */
export const minBytesPerSecond = 8 * 1024

// Only time spent waiting for the sender counts, not time spent waiting for memory.
const arriving = ({
  host: { bodyIdle, bodyTime },
  request
}: HostCall): Stream.Stream<Uint8Array, HostError> =>
  Stream.fromPull(
    Effect.map(Stream.toPull(Stream.mapError(request.stream, bodyError)), (pull) => {
      const [idle, time] = [Duration.toMillis(bodyIdle), Duration.toMillis(bodyTime)]
      let waited = 0
      let size = 0
      return Effect.suspend(() => {
        const began = performance.now()
        const left = Math.max(0, Math.min(idle, time + (size / minBytesPerSecond) * 1000 - waited))
        return Effect.timeoutFail(pull, { duration: left, onTimeout: () => Option.some(timedOut) }).pipe(
          Effect.tap((chunk) =>
            Effect.sync(() => {
              waited += performance.now() - began
              for (const piece of chunk) size += piece.length
            })
          )
        )
      })
    })
  )

/** Streams a body. Fails with 413 above `maxBytes`, and with 408 if the sender pauses too long or is too slow. */
export const stream = (call: HostCall, maxBytes: number): Stream.Stream<Uint8Array, HostError> =>
  bounded(arriving(call), maxBytes)

const notPacked = badRequest("The request body could not be unpacked.")

/** Streams a body and decompresses gzip. The limit applies to the decompressed size. */
export const decompressed = (call: HostCall, maxBytes: number): Stream.Stream<Uint8Array, HostError> =>
  !/\bgzip\b/i.test(call.request.headers["content-encoding"] ?? "")
    ? stream(call, maxBytes)
    : Stream.suspend(() => {
        // A failure of the source also fails the decompression, with another error.
        let before: HostError | undefined
        const packed = Stream.tapError(arriving(call), (problem) =>
          Effect.sync(() => {
            before = problem
          })
        )
        return NodeStream.pipeThroughSimple(packed, () => createGunzip()).pipe(
          Stream.catchAllCause(() => Stream.fail(before ?? notPacked)),
          Stream.map((chunk) => (typeof chunk === "string" ? Buffer.from(chunk) : chunk)),
          (bytes) => bounded(bytes, maxBytes)
        )
      })

const bounded = (bytes: Stream.Stream<Uint8Array, HostError>, maxBytes: number) =>
  Stream.suspend(() => {
    let size = 0
    return Stream.mapEffect(bytes, (chunk) => {
      size += chunk.length
      return size > maxBytes ? Effect.fail(tooLarge) : Effect.succeed(chunk)
    })
  })

/** The maximum number of bytes that are discarded. */
const maxDiscardedBytes = 64 * 1024 * 1024
const discardTimeout = "2 seconds"

/**
 * Discards an unread body before the connection closes. Closing a socket with unread bytes resets the connection, and
 * the client could lose the reply.
 */
export const discard = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> => {
  const { complete, readableEnded } = request.source as IncomingMessage
  const closes = /\bclose\b/i.test(request.headers["connection"] ?? "")
  if (!closes || complete || readableEnded || request.headers["expect"] !== undefined) return Effect.void
  let size = 0
  return Stream.runForEachWhile(request.stream, (chunk) => {
    size += chunk.length
    return Effect.succeed(size < maxDiscardedBytes)
  }).pipe(Effect.timeout(discardTimeout), Effect.ignore)
}
