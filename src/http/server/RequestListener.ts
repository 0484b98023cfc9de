import type { IncomingMessage, ServerResponse } from "node:http"
import {
  HttpApp,
  HttpServerError,
  HttpServerRequest,
  type HttpServerResponse,
  HttpTraceContext
} from "@effect/platform"
import {
  Cause,
  Context,
  Duration,
  Effect,
  Either,
  Exit,
  type Fiber,
  Option,
  Runtime,
  RuntimeFlags,
  Scope
} from "effect"
import type { ServerState } from "./ClientConnection.js"
import type { Input, Operation, Operations } from "./Direct.js"
import * as ErrorReply from "./ErrorReply.js"
import { Exchange } from "./Exchange.js"
import * as HostCheck from "./HostCheck.js"
import * as HttpError from "./HttpError.js"
import type { Mount } from "./Mount.js"
import { NodeRequest } from "./NodeRequest.js"
import * as NodeTimeout from "./NodeTimeout.js"
import * as RequestBody from "./RequestBody.js"
import * as ValidationMessage from "./ValidationMessage.js"
import { write } from "./WriteResponse.js"

/** The routes and limits of a listener. */
export interface ListenerOptions {
  readonly operations: Operations
  readonly mounts: ReadonlyArray<Mount>
  readonly limits: RequestBody.BodyLimits
  readonly handlerTimeout: Duration.Duration
  readonly acceptsHost: (host: string | undefined) => boolean
  readonly runtime: Runtime.Runtime<never>
  /** Whether a tracer is installed. Spans are created only then. */
  readonly tracing: boolean
  readonly shared: ServerState
}

/** The `request` event handler of a Node server. */
export type Listener = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Creates Node's request listener, with or without a `Host` check (unix sockets need none). Operations with static paths
 * run without a router: the listener reads and decodes the body, and runs the handler in one fiber, which usually
 * completes synchronously. All other requests go to the platform app of their mount. `Exchange` implements the
 * guarantees that both share.
 */
export const make = (options: ListenerOptions): ((anyHost: boolean) => Listener) => {
  const { acceptsHost, handlerTimeout, operations, shared, tracing } = options
  const limits = RequestBody.clamped(options.limits)
  const runFork = Runtime.runFork(options.runtime)
  // The runtime's fiber metrics are disabled for requests, which have metrics of their own.
  const requestRuntime = Runtime.disableRuntimeFlag(options.runtime, RuntimeFlags.RuntimeMetrics)
  const runOperation = Runtime.runFork(requestRuntime)
  const timeoutMillis = Duration.toMillis(handlerTimeout)

  const failWith = (exchange: Exchange, cause: Cause.Cause<unknown>): void => {
    const error = ErrorReply.fromCause(cause)
    if (error !== undefined) {
      try {
        exchange.fail(error)
      } catch (defect) {
        // The error has headers that Node refuses to send.
        failWith(exchange, Cause.die(defect))
      }
    } else if (Cause.isInterruptedOnly(cause)) {
      exchange.abort()
    } else {
      runFork(Effect.annotateLogs(Effect.logError("Request failed", cause), { requestId: exchange.id }))
      exchange.fail(ErrorReply.internal(exchange.id))
    }
  }

  const timedOut = (millis: number) =>
    new HttpError.ServiceUnavailable({ message: `The request took longer than ${millis} ms.` })

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
    const fiber = runOperation(tracing ? traced(exchange, operation, handled) : handled, { immediate: true })
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

  /** Reports a failure of an app before the platform's tracer, which sees only an interruption. */
  const reportFailure = (cause: Cause.Cause<unknown>) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      request instanceof NodeRequest && !Cause.isInterruptedOnly(cause)
        ? Effect.zipRight(
            Effect.sync(() => failWith(request.exchange, cause)),
            Effect.interrupt
          )
        : Effect.failCause(cause)
    )

  const mounted = options.mounts.map((mount) => {
    const own = RequestBody.clamped({ ...limits, ...mount.body })
    const millis = Duration.toMillis(mount.timeout ?? handlerTimeout)
    const app = tracing
      ? HttpApp.toHandled(Effect.catchAllCause(Effect.interruptible(mount.app), reportFailure), write)
      : Effect.flatMap(mount.app, respond)
    const serve = (exchange: Exchange) => {
      const request = new NodeRequest(exchange, own, exchange.request.url!)
      const scope = Effect.runSync(Scope.make())
      // The fiber starts with its services. Providing them inside the fiber took five times as long.
      const runtime: Runtime.Runtime<HttpServerRequest.HttpServerRequest | Scope.Scope> =
        Runtime.updateContext(requestRuntime, () =>
          Context.add(Context.make(HttpServerRequest.HttpServerRequest, request), Scope.Scope, scope)
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
    return { mount, matches, serve }
  })

  const dispatch = (exchange: Exchange) => {
    const methods = operations.get(exchange.path)
    if (methods !== undefined) {
      exchange.route = exchange.path
      const operation = methods.get(exchange.method === "HEAD" ? "GET" : exchange.method)
      if (operation !== undefined) return operate(exchange, operation)
      return wrongMethodOrOptions(exchange, Array.from(methods.keys()))
    }
    // `OPTIONS *` asks about the server as a whole.
    if (exchange.method === "OPTIONS" && exchange.path === "*")
      return wrongMethodOrOptions(exchange, ["GET", "POST"])
    for (const { matches, mount, serve } of mounted) {
      if (!matches(exchange.path)) continue
      exchange.route = mount.name
      const known = mount.methods?.(exchange.path)
      if (known !== undefined) {
        if (known.length === 0) return exchange.fail(ErrorReply.notFound(exchange.method, exchange.path))
        const served =
          known.includes("*") ||
          known.includes(exchange.method) ||
          (exchange.method === "HEAD" && known.includes("GET"))
        if (!served) return wrongMethodOrOptions(exchange, known)
      }
      return serve(exchange)
    }
    exchange.fail(ErrorReply.notFound(exchange.method, exchange.path))
  }

  return (anyHost) => (request, response) => {
    const path = HostCheck.pathOf(request)
    const refusal = HostCheck.hostError(request, anyHost ? undefined : acceptsHost)
    const exchange = new Exchange(shared, request, response, path)
    exchange.runInOrder(() => {
      try {
        if (refusal === undefined) dispatch(exchange)
        else exchange.fail(refusal)
      } catch (defect) {
        failWith(exchange, Cause.die(defect))
      }
    })
  }
}

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

const wrongMethodOrOptions = (exchange: Exchange, methods: ReadonlyArray<string>) => {
  if (exchange.method !== "OPTIONS") {
    return exchange.fail(ErrorReply.methodNotAllowed(exchange.method, exchange.path, methods))
  }
  const { headers, status } = ErrorReply.optionsReply(methods)
  exchange.sendEmpty(status, headers as Readonly<Record<string, string>>)
}

/** Writes a platform response after the app's pre-response handlers. */
const respond = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.withFiberRuntime<void, unknown, HttpServerRequest.HttpServerRequest>((fiber) => {
    const request = Context.unsafeGet(fiber.currentContext, HttpServerRequest.HttpServerRequest)
    const handler = fiber.getFiberRef(HttpApp.currentPreResponseHandlers)
    return Option.isNone(handler)
      ? write(request, response)
      : Effect.flatMap(handler.value(request, response), (changed) => write(request, changed))
  })

const interruptOnClose = (exchange: Exchange, fiber: Fiber.RuntimeFiber<unknown, unknown>) => {
  const stop = () => fiber.unsafeInterruptAsFork(HttpServerError.clientAbortFiberId)
  exchange.interrupt = stop
  exchange.response.on("close", () => {
    if (!exchange.response.writableFinished) stop()
  })
}
