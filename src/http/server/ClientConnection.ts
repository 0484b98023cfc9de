import type { Socket } from "node:net"
import type { AccessEntry } from "./AccessLog.js"
import type { HttpError } from "./HttpError.js"

/** The state that all requests of one server share. */
export interface ServerState {
  /** The number of requests whose replies are not completely sent. */
  inFlight: number
  /** Whether the server is stopping. Replies then close their connection. */
  draining: boolean
  readonly log: (entry: AccessEntry) => void
}

/** The number of pipelined requests of one connection above which the socket is paused. */
const maxQueued = 16

/** A request that waits for its reply. */
export interface PendingRequest {
  readonly started: number
  readonly request: { readonly complete: boolean }
  /** Ends a request whose body cannot be read to its end. The error is undefined if the client disconnected. */
  readonly refuse: (problem: HttpError | undefined) => void
}

/** The requests of one connection whose replies are not completely sent. Replies are written in the order of the requests. */
export class ClientConnection {
  /** The newest request. Closing the connection after an earlier reply would drop the pipelined requests behind it. */
  latest: PendingRequest | undefined = undefined
  pending = 0
  /** The time at which a request of the connection last began or ended. */
  lastActivity = performance.now()
  private isEnding = false
  /** The handlers of pipelined requests. The first one is running. */
  private queue: Array<() => void> = []

  constructor(
    readonly shared: ServerState,
    private readonly socket: Socket
  ) {
    // A reply that is queued behind another one gets no `close` event when the socket closes.
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

  /** Runs the end of the connection after all its replies. Only the first call has an effect. */
  endAfterReplies(run: () => void): void {
    if (this.isEnding) return
    this.isEnding = true
    this.enqueue(run)
  }

  /** Pauses the socket while many requests are queued. Node itself limits only the bytes waiting to be written. */
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
    // Requests of other connections run first.
    if (this.queue.length > 0) setImmediate(() => this.queue[0]?.())
  }
}

const connections = new WeakMap<Socket, ClientConnection>()

export const connectionOf = (socket: Socket, shared: ServerState): ClientConnection => {
  const existing = connections.get(socket)
  if (existing !== undefined) return existing
  const created = new ClientConnection(shared, socket)
  connections.set(socket, created)
  return created
}

/** Whether a connection has a request whose reply is not completely sent. */
export const isBusy = (socket: Socket): boolean => (connections.get(socket)?.pending ?? 0) > 0

/** The time at which a request of the connection last began or ended; undefined if it had none. */
export const lastActive = (socket: Socket): number | undefined => connections.get(socket)?.lastActivity
