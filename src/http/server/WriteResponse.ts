import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { Cookies, HttpServerError, type HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Cause, Chunk, Effect, Stream } from "effect"
import type { Exchange } from "./Exchange.js"
import { NodeRequest } from "./NodeRequest.js"

const isReadable = (value: unknown): value is Readable =>
  typeof value === "object" && value !== null && "pipe" in value && typeof value.pipe === "function"

type Headers = Readonly<Record<string, string | Array<string>>>

const headersOf = ({ cookies, headers }: HttpServerResponse.HttpServerResponse): Headers =>
  Cookies.isEmpty(cookies)
    ? headers
    : {
        ...headers,
        "set-cookie": Cookies.toSetCookieHeaders(cookies).concat(headers["set-cookie"] ?? [])
      }

/** Writes a platform response with any kind of body to Node's response. Supports backpressure and interruption. */
export const write = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<void, HttpServerError.ResponseError> =>
  Effect.suspend(() => {
    if (!(request instanceof NodeRequest))
      return Effect.die(new Error("the request does not belong to this server"))
    const exchange = request.exchange
    const node = exchange.response
    if (exchange.isFinished || node.writableEnded || node.destroyed) return Effect.void
    const broken = (cause: unknown) =>
      new HttpServerError.ResponseError({ request, response, reason: "Decode", cause })
    const headers = headersOf(response)
    const { body, status } = response
    const isBare = exchange.method === "HEAD" || status === 204 || status === 304
    switch (body._tag) {
      case "Uint8Array": {
        exchange.send(status, headers, body.body)
        return Effect.void
      }
      case "Empty": {
        exchange.sendEmpty(status, headers)
        return Effect.void
      }
      case "Raw": {
        if (typeof body.body === "string" || body.body instanceof Uint8Array) {
          exchange.send(status, headers, body.body)
          return Effect.void
        }
        const raw = body.body
        if (!isReadable(raw)) return Effect.die(new Error("a raw body must be text, bytes or a Node stream"))
        if (!isBare) return send(exchange, status, headers, (count) => piped(exchange, raw, count, broken))
        raw.destroy()
        exchange.sendEmpty(status, headers)
        return Effect.void
      }
      case "FormData": {
        const web = new Response(body.formData)
        const all = { ...headers, ...Object.fromEntries(web.headers) }
        if (!isBare)
          return send(exchange, status, all, (count) =>
            piped(exchange, Readable.fromWeb(web.body as never), count, broken)
          )
        exchange.sendEmpty(status, all)
        return Effect.void
      }
      case "Stream": {
        if (!isBare)
          return send(exchange, status, headers, (count) =>
            streamed(exchange, Stream.mapError(body.stream, broken), count)
          )
        exchange.sendEmpty(status, headers)
        return Effect.void
      }
    }
  })

/** The error codes of a peer that has disconnected. */
const disconnectCodes: ReadonlySet<unknown> = new Set(["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "EPIPE"])

/** The cause of a `ResponseError`. */
const unwrapCause = (error: unknown) => (error instanceof HttpServerError.ResponseError ? error.cause : error)

const isDisconnect = (cause: Cause.Cause<unknown>): boolean => {
  if (Cause.isInterruptedOnly(cause)) return true
  const error = Cause.squash(cause)
  return error instanceof Error && "code" in error && disconnectCodes.has(error.code)
}

/** Writes the headers and then a streamed body. `sending` reports the number of bytes to `count`. */
const send = <E>(
  exchange: Exchange,
  status: number,
  headers: Headers,
  sending: (count: (bytes: number) => void) => Effect.Effect<void, E>
): Effect.Effect<void, E> => {
  // A body that is shorter or longer than declared would corrupt the next reply of the connection.
  exchange.response.strictContentLength = true
  exchange.writeHead(status, headers)
  let sent = 0
  return Effect.interruptible(sending((bytes) => (sent += bytes))).pipe(
    Effect.onExit((exit) =>
      Effect.suspend(() => {
        if (exit._tag === "Success") {
          exchange.finish(status, sent)
          return Effect.void
        }
        const cause = Cause.map(exit.cause, unwrapCause)
        const left = isDisconnect(cause)
        exchange.abort(left ? 499 : 500)
        return left
          ? Effect.void
          : Effect.annotateLogs(Effect.logError("A reply was cut off", cause), { requestId: exchange.id })
      })
    )
  )
}

const piped = (
  { response }: Exchange,
  source: Readable,
  count: (bytes: number) => void,
  broken: (cause: unknown) => HttpServerError.ResponseError
) =>
  Effect.tryPromise({
    try: (signal) =>
      pipeline(
        source,
        async function* (pieces: AsyncIterable<string | Uint8Array>) {
          for await (const piece of pieces) {
            count(Buffer.byteLength(piece))
            yield piece
          }
        },
        response,
        { signal, end: true }
      ),
    catch: broken
  })

const streamed = <E>(
  { response }: Exchange,
  stream: Stream.Stream<Uint8Array, E>,
  count: (bytes: number) => void
): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const drained = Effect.async<void>((resume) => {
      const listener = () => resume(Effect.void)
      response.once("drain", listener)
      return Effect.sync(() => response.removeListener("drain", listener))
    })
    return Stream.runForEachChunk(stream, (chunk) =>
      Effect.suspend(() => {
        let full = false
        for (const part of Chunk.toReadonlyArray(chunk)) {
          full = !response.write(part)
          count(part.length)
        }
        return full ? drained : Effect.void
      })
    ).pipe(Effect.zipRight(Effect.sync(() => void response.end())))
  })
