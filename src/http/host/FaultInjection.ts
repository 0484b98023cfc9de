import { type HttpApp, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Chunk, type Context, Effect, type Scope, Stream } from "effect"
import * as CorsHeaders from "./CorsHeaders.js"
import { HostError, toReply } from "./reply/HostError.js"
import * as Reply from "./reply/Reply.js"
import type { Fault, Faults } from "./repository/Faults.js"
import * as BodyStream from "./request/BodyStream.js"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** Resets the connection. A request without a socket ends without a response. */
const reset = (request: Request) =>
  Effect.suspend(() => {
    const { source } = request
    const socket =
      typeof source === "object" && source !== null && "socket" in source
        ? (source.socket as { resetAndDestroy?: () => void; destroy?: () => void } | undefined)
        : undefined
    if (socket?.resetAndDestroy !== undefined) socket.resetAndDestroy()
    else socket?.destroy?.()
    return socket === undefined ? Effect.interrupt : Effect.never
  })

const serverError = (status: number): Response => {
  const reply = toReply(new HostError({ status, message: "Server Error" }), "rest")
  return Reply.toResponse({ ...reply, headers: { ...reply.headers, ...CorsHeaders.headers } })
}

const given = ({ body, headers, status }: Extract<Fault, { readonly _tag: "Reply" }>): Response =>
  Reply.toResponse(
    typeof body === "string" || body === undefined
      ? Reply.make(status, headers, body)
      : Reply.json(status, body, headers)
  )

/** The bytes of a response body; undefined if it has no body. */
const bytesOf = ({ body }: Response): Effect.Effect<Uint8Array | undefined> => {
  switch (body._tag) {
    case "Uint8Array":
      return Effect.succeed(body.body)
    case "Raw":
      return Effect.succeed(Buffer.from(String(body.body)))
    case "Stream":
      return Effect.orDie(
        Effect.map(Stream.runCollect(body.stream), (pieces) => Buffer.concat(Chunk.toReadonlyArray(pieces)))
      )
    default:
      return Effect.void as Effect.Effect<undefined>
  }
}

const cut = (response: Response, then: "end" | "reset" | "silence"): Effect.Effect<Response> =>
  Effect.map(bytesOf(response), (bytes) => {
    if (bytes === undefined) return response
    const { "content-length": _length, ...headers } = response.headers
    const options = { status: response.status, headers }
    const half = bytes.subarray(0, bytes.length >> 1)
    if (then === "end") return HttpServerResponse.uint8Array(half, options)
    const rest = then === "reset" ? Stream.die("A fault resets the connection") : Stream.never
    return HttpServerResponse.stream(Stream.concat(Stream.make(half), rest), options)
  })

/** A copy of the request with its body in memory, which can be read repeatedly. */
const repeatable = (request: Request): Effect.Effect<Request> =>
  Effect.map(Effect.orDie(request.arrayBuffer), (buffer) => {
    const bytes = new Uint8Array(buffer)
    const body: Partial<Request> = {
      stream: Stream.make(bytes),
      arrayBuffer: Effect.succeed(buffer),
      text: Effect.sync(() => new TextDecoder().decode(bytes))
    }
    return new Proxy(request, {
      get: (target, key) => Reflect.get(key in body ? body : target, key, target)
    })
  })

type App = HttpApp.Default<never, Scope.Scope>

/** Wraps the app so that a request with a matching fault rule meets that fault. */
export const inject = (faults: Context.Tag.Service<typeof Faults>, app: App): App => {
  const instead = (when: "before" | "after", request: Request, response: Response) =>
    Effect.as(when === "before" ? BodyStream.discard(request) : Effect.asVoid(app), response)
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const fault = faults.faultFor(request)
    if (fault === undefined) return app
    switch (fault._tag) {
      case "Latency":
        return Effect.delay(app, fault.millis)
      case "Error":
        return instead(fault.when, request, serverError(fault.status))
      case "Reply":
        return instead(fault.when, request, given(fault))
      case "Reset":
        return fault.when === "before" ? reset(request) : Effect.zipRight(app, reset(request))
      case "Cut":
        return Effect.flatMap(app, (response) => cut(response, fault.then))
      case "Twice":
        return Effect.flatMap(repeatable(request), (again) =>
          Effect.provideService(Effect.zipRight(app, app), HttpServerRequest.HttpServerRequest, again)
        )
      case "Race":
        return faults.withRace(app)
    }
  })
}
