import {
  Headers,
  HttpApiBuilder,
  type HttpApp,
  HttpRouter,
  HttpServerRequest,
  HttpServerResponse
} from "@effect/platform"
import { type Cause, Effect, Layer, type Scope } from "effect"
import * as ErrorReply from "../server/ErrorReply.js"
import * as HttpError from "../server/HttpError.js"
import * as RequestBody from "../server/RequestBody.js"
import { PlaygroundApi, PlaygroundGroup } from "./Api.js"
import * as Handlers from "./Handlers.js"
import type { Playground } from "./Playground.js"

const respond = (error: HttpError.HttpError) =>
  HttpServerResponse.text(HttpError.bodyOf(error), {
    status: error.status,
    contentType: "application/json",
    headers: error.headers
  })

const methods = new Map<string, Array<string>>()
for (const { method, path } of Object.values(PlaygroundGroup.endpoints)) {
  methods.set(path, [...(methods.get(path) ?? []), method])
}

const answer = (cause: Cause.Cause<unknown>, request: HttpServerRequest.HttpServerRequest) => {
  const path = request.url.split("?", 1)[0]!
  const reply = ErrorReply.fromCause(cause)
  const allowed = methods.get(path)
  if (reply?._tag === "NotFound" && allowed !== undefined) {
    return request.method === "OPTIONS"
      ? ErrorReply.optionsReply(allowed)
      : respond(ErrorReply.methodNotAllowed(request.method, path, allowed))
  }
  return respond(reply ?? ErrorReply.internal(request.headers["x-request-id"] ?? "none"))
}

const withServerRules = (app: HttpApp.Default<unknown>): HttpApp.Default =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const refusal = request.method === "POST" ? RequestBody.headerError(request) : undefined
    if (refusal !== undefined && methods.get(request.url.split("?", 1)[0]!)?.includes("POST") === true) {
      return Effect.succeed(respond(refusal))
    }
    const json = request.modify({ headers: Headers.set(request.headers, "content-type", "application/json") })
    return Effect.provideService(app, HttpServerRequest.HttpServerRequest, json).pipe(
      Effect.catchAllCause((cause) => Effect.succeed(answer(cause, request)))
    )
  })

const exact = { caseSensitive: true, ignoreDuplicateSlashes: false, ignoreTrailingSlash: false }

/**
 * The playground as served by `HttpApiBuilder`, an app for any platform server. `Direct.operations` serves the same
 * operations without a router, about four times as fast.
 *
 * @since 0.1.0
 * @category serving
 */
export const app = (
  originOf: Handlers.OriginOf
): Effect.Effect<
  HttpApp.Default<never, HttpRouter.HttpRouter.DefaultServices>,
  never,
  Playground | Scope.Scope
> =>
  Effect.provide(
    HttpRouter.withRouterConfig(HttpApiBuilder.httpApp, exact),
    Layer.mergeAll(
      HttpApiBuilder.api(PlaygroundApi).pipe(Layer.provide(Handlers.layer(originOf))),
      HttpApiBuilder.middleware(withServerRules)
    ).pipe(Layer.provideMerge(Layer.mergeAll(HttpApiBuilder.Router.Live, HttpApiBuilder.Middleware.layer)))
  )
