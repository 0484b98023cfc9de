import type { Server } from "node:http"
import { Server as NetServer, type Socket } from "node:net"
import { Duration, Effect } from "effect"
import { isBusy, type ServerState } from "./ClientConnection.js"

/** How a server stops. */
export interface DrainOptions {
  /** How long idle connections may still send a request (answered with `Connection: close`). */
  readonly grace: Duration.Duration
  /** How long running requests may take before they are interrupted. */
  readonly timeout: Duration.Duration
}

/** The open connections of a server. */
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
 * http.Server's own close() would cut idle connections at once, and with them requests already on the wire. On Bun, where
 * it is no server of sockets, there is no other one.
 */
const stopListening = (server: Server): void => {
  const isOfSockets: boolean = server instanceof NetServer
  if (isOfSockets) NetServer.prototype.close.call(server)
  else server.close()
}

/**
 * Stops a server without losing a request: no new connection, `Connection: close` on every further answer, idle
 * connections end after the grace, running requests finish, and what is left after the timeout is cut.
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
