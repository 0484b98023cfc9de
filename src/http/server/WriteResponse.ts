import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { Cookies, HttpServerError, type HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Chunk, Effect, Stream } from "effect"
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

/** Writes a platform response to Node's, whatever its body, with back pressure and interruption on the way. */
export const write = (
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse
): Effect.Effect<void, HttpServerError.ResponseError> =>
  Effect.suspend(() => {
    if (!(request instanceof NodeRequest)) return Effect.die(new Error("not a request of this server"))
    const exchange = request.exchange
    const node = exchange.response
    if (exchange.isSettled || node.writableEnded || node.destroyed) return Effect.void
    const broken = (cause: unknown) =>
      new HttpServerError.ResponseError({ request, response, reason: "Decode", cause })
    const headers = headersOf(response)
    const body = response.body
    switch (body._tag) {
      case "Uint8Array": {
        exchange.send(response.status, headers, body.body)
        return Effect.void
      }
      case "Empty": {
        exchange.sendEmpty(response.status, headers)
        return Effect.void
      }
      case "Raw": {
        if (typeof body.body === "string" || body.body instanceof Uint8Array) {
          exchange.send(response.status, headers, body.body)
          return Effect.void
        }
        const raw = body.body
        if (!isReadable(raw)) return Effect.die(new Error("a raw body must be text, bytes or a Node stream"))
        return start(
          request,
          response.status,
          headers,
          Effect.tryPromise({
            try: (signal) => pipeline(raw, node, { signal, end: true }),
            catch: broken
          })
        )
      }
      case "FormData": {
        const web = new Response(body.formData)
        const all = { ...headers, ...Object.fromEntries(web.headers) }
        return start(
          request,
          response.status,
          all,
          Effect.tryPromise({
            try: (signal) => pipeline(Readable.fromWeb(web.body as never), node, { signal, end: true }),
            catch: broken
          })
        )
      }
      case "Stream": {
        return start(
          request,
          response.status,
          headers,
          streamed(request, Stream.mapError(body.stream, broken))
        )
      }
    }
  })

const start = <E>(
  request: NodeRequest,
  status: number,
  headers: Headers,
  sending: Effect.Effect<void, E>
): Effect.Effect<void, E> => {
  const { exchange } = request
  exchange.head(status, headers)
  if (exchange.method === "HEAD") {
    exchange.response.end()
    exchange.settle(status, 0)
    return Effect.void
  }
  const before = exchange.request.socket.bytesWritten
  return Effect.interruptible(sending).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (exit._tag === "Success") exchange.settle(status, exchange.request.socket.bytesWritten - before)
        else exchange.abort()
      })
    )
  )
}

const streamed = <E>(request: NodeRequest, stream: Stream.Stream<Uint8Array, E>): Effect.Effect<void, E> =>
  Effect.suspend(() => {
    const node = request.response
    const drained = Effect.async<void>((resume) => {
      const listener = () => resume(Effect.void)
      node.once("drain", listener)
      return Effect.sync(() => node.removeListener("drain", listener))
    })
    return Stream.runForEachChunk(stream, (chunk) =>
      Effect.suspend(() => {
        let full = false
        for (const part of Chunk.toReadonlyArray(chunk)) full = !node.write(part)
        return full ? drained : Effect.void
      })
    ).pipe(Effect.zipRight(Effect.sync(() => void node.end())))
  })
