import type { Socket } from "node:net"
import type { AccessEntry } from "./AccessLog.js"
import type { HttpError } from "./HttpError.js"

/** What the exchanges of one server share. */
export interface Shared {
  /** Requests whose answer is not out to the last byte yet. */
  inFlight: number
  /** Set once the server has begun to stop: answers then close their connection. */
  draining: boolean
  readonly log: (entry: AccessEntry) => void
}

/** So many requests of a connection may wait for the answers before theirs until no more are read. */
const mostWaiting = 16

/** A request, as its connection knows it. */
export interface Requested {
  readonly started: number
  readonly request: { readonly complete: boolean }
  /** Its bytes cannot be read to their end: of a client that left, without a problem to be told. */
  readonly refuse: (problem: HttpError | undefined) => void
}

/** The requests of one connection that were not answered to the last byte yet. */
export class Connection {
  /** Pipelined requests wait in the socket's queue: closing after an earlier answer would drop theirs. */
  latest: Requested | undefined = undefined
  pending = 0
  /** When a request began or was answered last. */
  active = performance.now()
  private isEnding = false
  /** What answers the requests of a client that does not wait for answers; the first is under way. */
  private line: Array<() => void> = []

  constructor(
    readonly shared: Shared,
    private readonly socket: Socket
  ) {
    // Answers that wait behind another one are not told that the socket closed.
    socket.once("close", () => {
      shared.inFlight -= this.pending
      this.pending = 0
      this.line = []
    })
  }

  begin(exchange: Requested): void {
    this.latest = exchange
    this.active = exchange.started
    this.pending++
    this.shared.inFlight++
  }

  enter(run: () => void): void {
    this.line.push(run)
    if (this.line.length === 1) run()
    else this.holdBack()
  }

  /** Runs what ends the connection, once every request of it is answered; only the first of several. */
  end(run: () => void): void {
    if (this.isEnding) return
    this.isEnding = true
    this.enter(run)
  }

  /** Reads no further requests while there are many: Node itself looks at what is written alone. */
  private holdBack(): void {
    if (this.line.length > mostWaiting) this.socket.pause()
    else if (this.line.length === mostWaiting >> 1) this.socket.resume()
  }

  readonly complete = (): void => {
    if (this.pending === 0) return
    this.active = performance.now()
    this.pending--
    this.shared.inFlight--
    this.line.shift()
    this.holdBack()
    // Others have their turn first.
    if (this.line.length > 0) setImmediate(() => this.line[0]?.())
  }
}

const connections = new WeakMap<Socket, Connection>()

export const connectionOf = (socket: Socket, shared: Shared): Connection => {
  const known = connections.get(socket)
  if (known !== undefined) return known
  const made = new Connection(shared, socket)
  connections.set(socket, made)
  return made
}

/** Whether a connection waits for an answer of ours, or for the rest of one. */
export const isBusy = (socket: Socket): boolean => (connections.get(socket)?.pending ?? 0) > 0

/** When a request of a connection began or was answered last; undefined where there was none. */
export const lastActive = (socket: Socket): number | undefined => connections.get(socket)?.active
