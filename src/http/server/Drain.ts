import type { Server } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import { Duration, Effect } from "effect"
import { isBusy, type ServerState } from "./ClientConnection.js"

/** The time limits of a graceful stop. */
export interface DrainOptions {
  /** How long idle connections may still send a request. Its reply has `Connection: close`. */
  readonly grace: Duration.Duration
  /** How long running requests may take before they are interrupted. */
  readonly timeout: Duration.Duration
}

/** Returns the live set of open connections of a server. */
export const track = (server: Server): ReadonlySet<Socket> => {
  const sockets = new Set<Socket>()
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  return sockets
}

const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const check = () => {
      if (condition()) resume(Effect.void)
      else timer = setTimeout(check, 5)
    }
    let timer: NodeJS.Timeout | undefined
    check()
    return Effect.sync(() => clearTimeout(timer))
  })

const within = (duration: Duration.Duration, effect: Effect.Effect<void>) =>
  Effect.asVoid(Effect.timeoutOption(Effect.interruptible(effect), duration))

/**
 * Stops accepting connections. `http.Server.close` would also close idle connections at once and lose requests that are
 * already on the wire, so `net.Server.close` is called. On Bun an HTTP server is not a `net.Server`, and `close` is the
 * only way.
 */
const stopListening = (server: Server): void => {
  const isOfSockets: boolean = server instanceof NetServer
  if (isOfSockets) NetServer.prototype.close.call(server)
  else server.close()
}

/**
 * Stops servers without losing a request. They accept no new connection, and every further reply has `Connection: close`.
 * Idle connections are closed after the grace period. Running requests finish. Connections that are still open after the
 * timeout are destroyed.
 */
export const drain = (
  servers: ReadonlyArray<{ readonly server: Server; readonly sockets: ReadonlySet<Socket> }>,
  shared: ServerState,
  options: DrainOptions
): Effect.Effect<void> =>
  Effect.gen(function* () {
    shared.draining = true
    const open = () => servers.flatMap(({ sockets }) => Array.from(sockets))
    for (const { server } of servers) stopListening(server)
    yield* within(
      options.grace,
      until(() => open().length === 0)
    )
    for (const socket of open()) if (!isBusy(socket)) socket.end()
    yield* within(
      options.timeout,
      until(() => shared.inFlight === 0)
    )
    for (const socket of open()) if (!isBusy(socket)) socket.end()
    yield* within(
      Duration.seconds(1),
      until(() => open().length === 0)
    )
    for (const socket of open()) socket.destroy()
    for (const { server } of servers) server.closeAllConnections()
  })
