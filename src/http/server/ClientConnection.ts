import type { Socket } from "node:net"
import type { AccessEntry } from "./AccessLog.js"
import type { HttpError } from "./HttpError.js"

/** What the exchanges of one server share. */
export interface ServerState {
  /** Requests whose answer is not out to the last byte yet. */
  inFlight: number
  /** Set once the server has begun to stop: answers then close their connection. */
  draining: boolean
  readonly log: (entry: AccessEntry) => void
}

/** So many requests of a connection may wait for the answers before theirs until no more are read. */
const maxQueued = 16

/** A request, as its connection knows it. */
export interface PendingRequest {
  readonly started: number
  readonly request: { readonly complete: boolean }
  /** Its bytes cannot be read to their end: of a client that left, without a problem to be told. */
  readonly refuse: (problem: HttpError | undefined) => void
}

/** The requests of one connection that were not answered to the last byte yet. */
export class ClientConnection {
  /** Pipelined requests wait in the socket's queue: closing after an earlier answer would drop theirs. */
  latest: PendingRequest | undefined = undefined
  pending = 0
  /** When a request began or was answered last. */
  lastActivity = performance.now()
  private isEnding = false
  /** What answers the requests of a client that does not wait for answers; the first is under way. */
  private queue: Array<() => void> = []

  constructor(
    readonly shared: ServerState,
    private readonly socket: Socket
  ) {
    // Answers that wait behind another one are not told that the socket closed.
    socket.once("close", () => {
      shared.inFlight -= this.pending
      this.pending = 0
      this.queue = []
    })
  }

  begin(exchange: PendingRequest): void {
    this.latest = exchange
    this.lastActivity = exchange.started
    this.pending++
    this.shared.inFlight++
  }

  enqueue(run: () => void): void {
    this.queue.push(run)
    if (this.queue.length === 1) run()
    else this.pauseOrResume()
  }

  /** Runs what ends the connection, once every request of it is answered; only the first of several. */
  endAfterReplies(run: () => void): void {
    if (this.isEnding) return
    this.isEnding = true
    this.enqueue(run)
  }

  /** Reads no further requests while there are many: Node itself looks at what is written alone. */
  private pauseOrResume(): void {
    if (this.queue.length > maxQueued) this.socket.pause()
    else if (this.queue.length === maxQueued >> 1) this.socket.resume()
  }

  readonly complete = (): void => {
    if (this.pending === 0) return
    this.lastActivity = performance.now()
    this.pending--
    this.shared.inFlight--
    this.queue.shift()
    this.pauseOrResume()
    // Others have their turn first.
    if (this.queue.length > 0) setImmediate(() => this.queue[0]?.())
  }
}

const connections = new WeakMap<Socket, ClientConnection>()

export const connectionOf = (socket: Socket, shared: ServerState): ClientConnection => {
  const known = connections.get(socket)
  if (known !== undefined) return known
  const made = new ClientConnection(shared, socket)
  connections.set(socket, made)
  return made
}

/** Whether a connection waits for an answer of ours, or for the rest of one. */
export const isBusy = (socket: Socket): boolean => (connections.get(socket)?.pending ?? 0) > 0

/** When a request of a connection began or was answered last; undefined where there was none. */
export const lastActive = (socket: Socket): number | undefined => connections.get(socket)?.lastActivity
