import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, DefaultServices, Duration, Effect, Layer, Runtime, type Scope, Tracer } from "effect"
import * as AccessLog from "./AccessLog.js"
import type { ServerState } from "./ClientConnection.js"
import * as ConnectionLimit from "./ConnectionLimit.js"
import type { Operations } from "./Direct.js"
import * as Drain from "./Drain.js"
import * as HostCheck from "./HostCheck.js"
import { type Address, ListenError, listen } from "./ListenAddress.js"
import * as MalformedRequest from "./MalformedRequest.js"
import type { Mount } from "./Mount.js"
import * as NodeTimeout from "./NodeTimeout.js"
import type { BodyLimits } from "./RequestBody.js"
import * as RequestListener from "./RequestListener.js"

export { type Address, ListenError } from "./ListenAddress.js"

/**
 * The options of a server. Every duration and size is an enforced limit.
 *
 * @since 0.1.0
 * @category options
 */
export interface ServerOptions {
  /** The addresses to listen on, at least one. */
  readonly listen: ReadonlyArray<Address>
  /** The public URL for the `Host` check. Required if an address is not a loopback address. */
  readonly publicUrl?: string | undefined
  /** The limits of request bodies, unless a mount has its own. */
  readonly limits: BodyLimits
  /** How long a handler may take until its reply begins. */
  readonly handlerTimeout: Duration.Duration
  /** How long the headers of a request may take to arrive. */
  readonly headersTimeout: Duration.Duration
  /** How long a connection may be inactive. */
  readonly idleTimeout: Duration.Duration
  /**
   * The maximum number of open connections. Above it, the connections that have been idle longest are closed. Default: half
   * of the file descriptors, or all but 1,024 if that is more.
   */
  readonly maxConnections?: number | undefined
  /** The time limits of a graceful stop. */
  readonly drain: Drain.DrainOptions
}

/**
 * The operations and mounts that a server serves.
 *
 * @since 0.1.0
 * @category models
 */
export interface Groups {
  /** Operations that run without a router, by path and method. */
  readonly operations: Operations
  /** Mounts, of which the first with a matching path is used. */
  readonly mounts: ReadonlyArray<Mount>
}

/**
 * A running server.
 *
 * @since 0.1.0
 * @category services
 */
export class Server extends Context.Tag("http/Server")<
  Server,
  {
    /** The URL of the first TCP address for a client on this machine, such as `http://127.0.0.1:3000`. */
    readonly url: string
    readonly addresses: ReadonlyArray<AddressInfo | string>
  }
>() {}

/**
 * The state of the server that health endpoints report.
 *
 * @since 0.1.0
 * @category services
 */
export class Lifecycle extends Context.Tag("http/Lifecycle")<
  Lifecycle,
  { readonly isDraining: () => boolean; readonly inFlight: () => number }
>() {}

/**
 * Default options for tests and small programs: any free port on loopback.
 *
 * @since 0.1.0
 * @category serving
 */
export const defaults: ServerOptions = {
  listen: [{ port: 0, host: "127.0.0.1" }],
  limits: { maxBytes: 1024 * 1024, timeoutMillis: 30_000 },
  handlerTimeout: Duration.seconds(30),
  headersTimeout: Duration.seconds(10),
  idleTimeout: Duration.minutes(5),
  drain: { grace: Duration.millis(250), timeout: Duration.seconds(10) }
}

/**
 * Serves groups until the scope closes, and then stops gracefully: accepted requests are completed while the layers below
 * are still open.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E, R>(
  options: ServerOptions,
  groups: Effect.Effect<Groups, E, R | Lifecycle | Scope.Scope>
): Layer.Layer<Server, E | ListenError, Exclude<R, Lifecycle | Scope.Scope>> =>
  Layer.scoped(Server, serve(options, groups)) as Layer.Layer<
    Server,
    E | ListenError,
    Exclude<R, Lifecycle | Scope.Scope>
  >

const serve = <E, R>(options: ServerOptions, groups: Effect.Effect<Groups, E, R | Lifecycle | Scope.Scope>) =>
  Effect.gen(function* () {
    yield* refuseOpenBinding(options)
    // Mounts provide the services of their apps. The runtime's context is empty because every request copies it.
    const runtime = Runtime.updateContext(yield* Effect.runtime<never>(), () => Context.empty())
    const tracer = yield* Effect.tracer
    const shared: ServerState = { inFlight: 0, draining: false, log: AccessLog.make(runtime) }
    const { mounts, operations } = yield* Effect.provideService(groups, Lifecycle, {
      isDraining: () => shared.draining,
      inFlight: () => shared.inFlight
    })
    const listener = RequestListener.make({
      operations,
      mounts,
      limits: options.limits,
      handlerTimeout: options.handlerTimeout,
      acceptsHost: HostCheck.make(options.publicUrl),
      runtime,
      tracing: tracer !== Context.get(DefaultServices.liveServices, Tracer.Tracer),
      shared
    })
    const servers = options.listen.map((address) => {
      const server = nodeServer(options, shared, listener("socket" in address))
      return { address, server, sockets: Drain.track(server) }
    })
    ConnectionLimit.enforce(
      servers.map(({ server }) => server),
      options.maxConnections ?? ConnectionLimit.fromOpenFiles()
    )
    yield* Effect.addFinalizer(() => Drain.drain(servers, shared, options.drain))
    const addresses: Array<AddressInfo | string> = []
    for (const { address, server } of servers) addresses.push(yield* listen(server, address))
    return { url: urlOf(addresses), addresses }
  })

const refuseOpenBinding = (options: ServerOptions) => {
  const open = options.listen.find((address) => "host" in address && !HostCheck.isLoopback(address.host))
  return open === undefined || options.publicUrl !== undefined
    ? Effect.void
    : Effect.fail(
        new ListenError({
          message:
            "Listening on an address that is not loopback requires CHAINSTORE_PUBLIC_URL, the public URL of the service."
        })
      )
}

const nodeServer = (
  options: ServerOptions,
  shared: ServerState,
  listener: RequestListener.Listener
): HttpServer => {
  const server = createServer({
    requireHostHeader: false,
    headersTimeout: NodeTimeout.clamp(Duration.toMillis(options.headersTimeout)),
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 65_000
  })
  // The size of headers is limited. With a count limit Node would silently drop the last headers.
  server.maxHeadersCount = 0
  server.timeout = NodeTimeout.clamp(Duration.toMillis(options.idleTimeout))
  server.on("request", listener)
  server.on("checkContinue", listener)
  server.on("checkExpectation", listener)
  server.on("clientError", MalformedRequest.onClientError(shared))
  server.on("connect", MalformedRequest.onConnect(shared))
  return server
}

const urlOf = (addresses: ReadonlyArray<AddressInfo | string>): string => {
  const tcp = addresses.find((address) => typeof address !== "string")
  if (tcp === undefined) return String(addresses[0] ?? "")
  return `http://${tcp.family === "IPv6" ? `[${tcp.address}]` : tcp.address}:${tcp.port}`
}
