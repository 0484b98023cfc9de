import { lstatSync, unlinkSync } from "node:fs"
import type { Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { Data, Effect } from "effect"

/**
 * The address of a server: a TCP port (0 means any free port) and host, or the path of a unix socket.
 *
 * @since 0.1.0
 * @category models
 */
export type Address = { readonly port: number; readonly host: string } | { readonly socket: string }

/**
 * A server could not be bound to its address.
 *
 * @since 0.1.0
 * @category errors
 */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly message: string
  readonly cause?: unknown
}> {}

const refusal = (address: Address, cause: NodeJS.ErrnoException): ListenError => {
  const where =
    "socket" in address
      ? address.socket
      : `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`
  const why =
    cause.code === "EADDRINUSE" ? "it is in use by another process or by a file" : "the system denied it"
  return new ListenError({ message: `cannot listen on ${where}: ${why} (${cause.message})`, cause })
}

const attempt = (
  server: Server,
  address: Address
): Effect.Effect<AddressInfo | string, NodeJS.ErrnoException> =>
  Effect.async((resume) => {
    const onError = (error: NodeJS.ErrnoException) => resume(Effect.fail(error))
    server.once("error", onError)
    const where = "socket" in address ? { path: address.socket } : { port: address.port, host: address.host }
    server.listen(where, () => {
      server.off("error", onError)
      resume(Effect.succeed(server.address()!))
    })
  })

// A killed process leaves its socket file behind. Only a socket that refuses connections is removed, never another file.
const isAbandoned = (path: string): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) {
      resume(Effect.succeed(false))
      return
    }
    const probe = connect({ path }, () => {
      probe.destroy()
      resume(Effect.succeed(false))
    })
    probe.once("error", (error: NodeJS.ErrnoException) =>
      resume(Effect.succeed(error.code === "ECONNREFUSED"))
    )
  })

/** Binds a server to an address. Replaces the socket file of a process that has ended. */
export const listen = (server: Server, address: Address): Effect.Effect<AddressInfo | string, ListenError> =>
  attempt(server, address).pipe(
    Effect.catchIf(
      (error) => error.code === "EADDRINUSE" && "socket" in address,
      (error) =>
        "socket" in address
          ? Effect.flatMap(isAbandoned(address.socket), (abandoned) => {
              if (!abandoned) return Effect.fail(error)
              unlinkSync(address.socket)
              return attempt(server, address)
            })
          : Effect.fail(error)
    ),
    Effect.mapError((cause) => refusal(address, cause))
  )
