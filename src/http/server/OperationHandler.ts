import { HttpTraceContext } from "@effect/platform"
import { Cause, Duration, Effect, Either, type Exit, Option, Runtime } from "effect"
import type { Input, Operation } from "./Direct.js"
import type { Exchange } from "./Exchange.js"
import * as HttpError from "./HttpError.js"
import { NodeRequest } from "./NodeRequest.js"
import * as NodeTimeout from "./NodeTimeout.js"
import * as RequestBody from "./RequestBody.js"
import type { RequestContext } from "./RequestContext.js"
import { interruptOnClose, timedOut } from "./RequestFailure.js"
import * as ValidationMessage from "./ValidationMessage.js"

/**
 * Creates the function that serves a request by an operation: it reads and decodes the body, and runs the handler in one
 * fiber, which usually completes synchronously.
 */
export const make = (context: RequestContext) => {
  const { failWith, handlerTimeout, limits, tracing } = context
  const runRequest = Runtime.runFork(context.runtime)
  const timeoutMillis = Duration.toMillis(handlerTimeout)

  const complete = (exchange: Exchange, operation: Operation, exit: Exit.Exit<unknown, unknown>) => {
    if (exit._tag === "Failure") return failWith(exchange, exit.cause)
    let json: string
    try {
      json = operation.encode(exit.value)
    } catch (defect) {
      return failWith(exchange, Cause.die(defect))
    }
    exchange.sendJson(operation.status, json)
  }

  const handle = (exchange: Exchange, operation: Operation, payload: unknown) =>
    Effect.suspend(() => operation.handle(new OperationInput(exchange, limits, payload)))

  const run = (exchange: Exchange, operation: Operation, handled: Effect.Effect<unknown, unknown>) => {
    const fiber = runRequest(tracing ? traced(exchange, operation, handled) : handled, { immediate: true })
    const exit = fiber.unsafePoll()
    if (exit !== null) return complete(exchange, operation, exit)
    const timer = Number.isFinite(timeoutMillis)
      ? setTimeout(() => {
          exchange.fail(timedOut(timeoutMillis))
          fiber.unsafeInterruptAsFork(fiber.id())
        }, NodeTimeout.clamp(timeoutMillis))
      : undefined
    interruptOnClose(exchange, fiber)
    fiber.addObserver((later) => {
      clearTimeout(timer)
      if (!exchange.isFinished) complete(exchange, operation, later)
    })
  }

  const operate = (exchange: Exchange, operation: Operation) => {
    const decode = operation.decode
    if (decode === undefined) return run(exchange, operation, handle(exchange, operation, undefined))
    const decoded = (body: unknown) =>
      Either.mapBoth(decode(body), {
        onLeft: ({ issue }) => new HttpError.ValidationError({ message: ValidationMessage.forBody(issue) }),
        onRight: (payload) => handle(exchange, operation, payload)
      })
    const refusal = RequestBody.headerError(exchange.request)
    if (refusal !== undefined) return exchange.fail(refusal)
    RequestBody.read(exchange.request, exchange.response, limits, (result) => {
      if (result === undefined) return exchange.abort()
      if (!Buffer.isBuffer(result)) return exchange.fail(result)
      const body = RequestBody.parse(result)
      if (!Either.isEither(body)) {
        return run(exchange, operation, Effect.flatten(Effect.flatMap(body, decoded)))
      }
      try {
        const handled = Either.flatMap(body, decoded)
        if (Either.isRight(handled)) run(exchange, operation, handled.right)
        else exchange.fail(handled.left)
      } catch (defect) {
        failWith(exchange, Cause.die(defect))
      }
    })
  }
  return operate
}

const traced = (exchange: Exchange, operation: Operation, effect: Effect.Effect<unknown, unknown>) =>
  Effect.withSpan(effect, `http.server ${operation.method}`, {
    kind: "server",
    captureStackTrace: false,
    attributes: {
      "http.request.method": exchange.method,
      "http.route": operation.path,
      "url.path": exchange.path,
      "request.id": exchange.id
    },
    ...Option.match(HttpTraceContext.fromHeaders(exchange.request.headers as never), {
      onNone: () => ({}),
      onSome: (parent) => ({ parent })
    })
  })

/** Creates the platform request lazily, because most handlers read only the payload. */
class OperationInput implements Input {
  private made: NodeRequest | undefined = undefined

  constructor(
    private readonly exchange: Exchange,
    private readonly limits: RequestBody.BodyLimits,
    readonly payload: unknown
  ) {}

  get request(): NodeRequest {
    this.made ??= new NodeRequest(this.exchange, this.limits, this.exchange.request.url!)
    return this.made
  }
}
