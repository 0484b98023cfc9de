import type { IncomingMessage, ServerResponse } from "node:http"
import { Cause, type Duration, Runtime, RuntimeFlags } from "effect"
import type { ServerState } from "./ClientConnection.js"
import type { Operations } from "./Direct.js"
import * as ErrorReply from "./ErrorReply.js"
import { Exchange } from "./Exchange.js"
import * as HostCheck from "./HostCheck.js"
import type { Mount } from "./Mount.js"
import * as MountHandler from "./MountHandler.js"
import * as OperationHandler from "./OperationHandler.js"
import * as RequestBody from "./RequestBody.js"
import * as RequestFailure from "./RequestFailure.js"

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
 * run without a router (`OperationHandler`). All other requests go to the platform app of their mount
 * (`MountHandler`). `Exchange` implements the guarantees that both share.
 */
export const make = (options: ListenerOptions): ((anyHost: boolean) => Listener) => {
  const { acceptsHost, handlerTimeout, operations, shared, tracing } = options
  const limits = RequestBody.clamped(options.limits)
  const failWith = RequestFailure.make(options.runtime)
  // The runtime's fiber metrics are disabled for requests, which have metrics of their own.
  const runtime = Runtime.disableRuntimeFlag(options.runtime, RuntimeFlags.RuntimeMetrics)
  const context = { limits, handlerTimeout, tracing, runtime, failWith }
  const operate = OperationHandler.make(context)
  const mounted = options.mounts.map((mount) => ({ mount, ...MountHandler.make(mount, context) }))

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
      const allowed = mount.methods?.(exchange.path)
      if (allowed !== undefined) {
        if (allowed.length === 0) return exchange.fail(ErrorReply.notFound(exchange.method, exchange.path))
        const served =
          allowed.includes("*") ||
          allowed.includes(exchange.method) ||
          (exchange.method === "HEAD" && allowed.includes("GET"))
        if (!served) return wrongMethodOrOptions(exchange, allowed)
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

const wrongMethodOrOptions = (exchange: Exchange, methods: ReadonlyArray<string>) => {
  if (exchange.method !== "OPTIONS") {
    return exchange.fail(ErrorReply.methodNotAllowed(exchange.method, exchange.path, methods))
  }
  const { headers, status } = ErrorReply.optionsReply(methods)
  exchange.sendEmpty(status, headers as Readonly<Record<string, string>>)
}
