import { HttpApp, HttpServerRequest, type HttpServerResponse } from "@effect/platform"
import { Cause, Context, Duration, Effect, Exit, Option, Runtime, Scope } from "effect"
import type { Exchange } from "./Exchange.js"
import type { Mount } from "./Mount.js"
import { NodeRequest } from "./NodeRequest.js"
import * as NodeTimeout from "./NodeTimeout.js"
import * as RequestBody from "./RequestBody.js"
import type { RequestContext } from "./RequestContext.js"
import { type FailWith, interruptOnClose, timedOut } from "./RequestFailure.js"
import { write } from "./WriteResponse.js"

/** Creates the test of a mount's paths, and the function that serves a request by the mount's app. */
export const make = (mount: Mount, context: RequestContext) => {
  const { failWith, handlerTimeout, limits, tracing } = context
  const own = RequestBody.clamped({ ...limits, ...mount.body })
  const millis = Duration.toMillis(mount.timeout ?? handlerTimeout)
  const app = tracing
    ? HttpApp.toHandled(Effect.catchAllCause(Effect.interruptible(mount.app), reportFailure(failWith)), write)
    : Effect.flatMap(mount.app, respond)
  const serve = (exchange: Exchange) => {
    const request = new NodeRequest(exchange, own, exchange.request.url!)
    const scope = Effect.runSync(Scope.make())
    // The fiber starts with its services. Providing them inside the fiber took five times as long.
    const runtime: Runtime.Runtime<HttpServerRequest.HttpServerRequest | Scope.Scope> = Runtime.updateContext(
      context.runtime,
      () => Context.add(Context.make(HttpServerRequest.HttpServerRequest, request), Scope.Scope, scope)
    )
    const fiber = Runtime.runFork(runtime)(
      Effect.onExit(app, (exit) => Scope.close(scope, exit)),
      { immediate: true }
    )
    let timer: NodeJS.Timeout | undefined
    const finish = (exit: Exit.Exit<unknown, unknown>) => {
      clearTimeout(timer)
      if (exchange.isFinished) return
      if (Exit.isFailure(exit)) failWith(exchange, exit.cause)
      else exchange.finish(exchange.response.statusCode, 0)
    }
    const exit = fiber.unsafePoll()
    if (exit !== null) return finish(exit)
    if (Number.isFinite(millis)) {
      timer = setTimeout(() => {
        // The time limit applies until the reply begins.
        if (exchange.response.headersSent) return
        exchange.fail(timedOut(millis))
        fiber.unsafeInterruptAsFork(fiber.id())
      }, NodeTimeout.clamp(millis))
    }
    interruptOnClose(exchange, fiber)
    fiber.addObserver(finish)
  }
  const matches = (path: string) =>
    mount.paths.some((at) =>
      typeof at === "string" ? at === "/" || path === at || path.startsWith(`${at}/`) : path.search(at) >= 0
    )
  return { matches, serve }
}

/** Reports a failure of an app before the platform's tracer, which sees only an interruption. */
const reportFailure = (failWith: FailWith) => (cause: Cause.Cause<unknown>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    request instanceof NodeRequest && !Cause.isInterruptedOnly(cause)
      ? Effect.zipRight(
          Effect.sync(() => failWith(request.exchange, cause)),
          Effect.interrupt
        )
      : Effect.failCause(cause)
  )

/** Writes a platform response after the app's pre-response handlers. */
const respond = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.withFiberRuntime<void, unknown, HttpServerRequest.HttpServerRequest>((fiber) => {
    const request = Context.unsafeGet(fiber.currentContext, HttpServerRequest.HttpServerRequest)
    const handler = fiber.getFiberRef(HttpApp.currentPreResponseHandlers)
    return Option.isNone(handler)
      ? write(request, response)
      : Effect.flatMap(handler.value(request, response), (changed) => write(request, changed))
  })
