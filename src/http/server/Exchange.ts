import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import { AccessEntry } from "./AccessLog.js"
import { type ClientConnection, connectionOf, type ServerState } from "./ClientConnection.js"
import { bodyOf, type HttpError } from "./HttpError.js"
import * as Metrics from "./Metrics.js"

/** What every answer carries unless its own headers say otherwise. */
export const securityHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const securityNames = Object.keys(securityHeaders)

const prefix = Math.floor(Math.random() * 36 ** 6)
  .toString(36)
  .padStart(6, "0")
let counter = 0

/** An id that no other request of this process has. */
export const newId = (): string => `${prefix}-${(++counter).toString(36)}`

const idOf = (request: IncomingMessage): string => {
  const given = request.headers["x-request-id"]
  return typeof given === "string" && given.length <= 64 && /^[\w.-]+$/.test(given) ? given : newId()
}

/** How long a connection stays open after an answer to a body that nobody will read: the client must see the answer first. */
const lingerMillis = 1000

/** How much of a body that nobody reads is dropped, so that its connection stays usable; a longer one ends it. */
const maxDiscardedBytes = 16 * 1024 * 1024

/** One request and its answer: request id, security headers, log line and metrics happen here, exactly once each. */
export class Exchange {
  readonly id: string
  readonly method: string
  readonly started = performance.now()
  /** The bounded name under which metrics count this request. */
  route = "unmatched"
  /** Ends the work on the answer. */
  interrupt: (() => void) | undefined = undefined
  private finished = false
  /** Whether every earlier request of the connection is answered. */
  private isNext = false
  /** Whether the bytes of the request cannot be read to their end. */
  private isBroken = false
  /** What is wrong with them. */
  private malformed: HttpError | undefined = undefined
  private readonly connection: ClientConnection

  constructor(
    readonly shared: ServerState,
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    readonly path: string
  ) {
    this.id = idOf(request)
    this.method = request.method!
    this.connection = connectionOf(request.socket, shared)
    this.connection.begin(this)
    response.on("close", this.connection.complete)
  }

  /** Runs what answers, once every earlier request of the connection is answered. */
  runInOrder(run: () => void): void {
    this.connection.enqueue(() => {
      this.isNext = true
      if (!this.isBroken) run()
      else if (this.malformed === undefined) this.abort()
      else this.closeMalformed()
    })
  }

  /** Answers in its turn with what is wrong with the bytes of the request: nothing that follows them can be read. */
  refuse(problem: HttpError | undefined): void {
    if (this.isBroken) return
    this.isBroken = true
    this.malformed = problem
    if (this.isNext) this.closeMalformed()
  }

  private closeMalformed(): void {
    // Who left, or has the answer already, can be told nothing more; the work on an answer ends with the connection.
    if (this.malformed === undefined || this.finished) this.request.socket.destroy()
    else {
      this.fail(this.malformed)
      this.interrupt?.()
    }
  }

  get origin(): string {
    return `http://${this.request.headers.host ?? "localhost"}`
  }

  /** Writes the head; `own` headers win over the security headers. `length` is that of the body, where it is known. */
  writeHead(
    status: number,
    own: Readonly<Record<string, string | Array<string>>>,
    length: number | undefined = undefined
  ): void {
    // Who is too slow with a body would otherwise keep the connection with the rest of it.
    const closes =
      status === 408 || this.isBroken || (this.shared.draining && this.connection.latest === this)
    const bodiless = status === 204
    // Names and values in turn: from an object of headers Node makes the same head in a sixth of a request's time.
    const lines: Array<string | Array<string>> = []
    for (const name of securityNames) if (!(name in own)) lines.push(name, securityHeaders[name]!)
    if (!("x-request-id" in own)) lines.push("x-request-id", this.id)
    for (const name in own) {
      const isReplaced =
        name === "content-length" ? bodiless || length !== undefined : closes && name === "connection"
      if (!isReplaced) lines.push(name, own[name]!)
    }
    if (length !== undefined && !bodiless) lines.push("content-length", String(length))
    if (closes) lines.push("connection", "close")
    this.response.writeHead(status, STATUS_CODES[status] ?? "unknown", lines)
  }

  /** Sends a whole answer of known bytes; those of an answer that has none by its status are left out. */
  send(
    status: number,
    own: Readonly<Record<string, string | Array<string>>>,
    body: string | Uint8Array
  ): void {
    if (status === 204 || status === 304) {
      this.sendEmpty(status, own)
      return
    }
    const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength
    this.writeHead(status, own, bytes)
    const bare = this.method === "HEAD"
    if (bare) this.response.end()
    else this.response.end(body)
    this.finish(status, bare ? 0 : bytes)
    this.discardBody()
  }

  sendJson(status: number, json: string): void {
    this.send(status, { "content-type": "application/json" }, json)
  }

  /** Sends an answer without a body. */
  sendEmpty(status: number, own: Readonly<Record<string, string | Array<string>>>): void {
    this.writeHead(status, own)
    this.response.end()
    this.finish(status, 0)
    this.discardBody()
  }

  /** Lets the rest of a body that nobody wanted come and go: Node itself would do so without end. */
  private discardBody(): void {
    const { request } = this
    if (request.complete || !expectsMore(request)) return
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxDiscardedBytes) request.socket.destroy()
    })
    // From here on the body counts as read, and Node leaves it to us.
    request.read(0)
  }

  /** Answers with an error; a body that has not arrived is not read, so its connection closes after the answer was seen. */
  fail(error: HttpError): void {
    if (this.finished || this.response.headersSent) {
      this.abort()
      return
    }
    const body = bodyOf(error)
    const headers = { ...error.headers, "content-type": "application/json" }
    const unread = this.isBroken || error.status === 408 || expectsMore(this.request)
    if (this.request.complete || !unread) {
      this.send(error.status, headers, body)
      return
    }
    const bytes = Buffer.byteLength(body)
    this.request.pause()
    this.writeHead(error.status, { ...headers, "content-length": String(bytes), connection: "close" })
    const bare = this.method === "HEAD"
    if (!bare) this.response.write(body)
    setTimeout(() => {
      this.response.end()
      this.request.socket.destroySoon()
    }, lingerMillis).unref()
    this.finish(error.status, bare ? 0 : bytes)
  }

  /** Gives up: the client left (499), or the answer broke off by a fault of ours (500). */
  abort(status: 499 | 500 = 499): void {
    if (!this.response.writableEnded) this.response.destroy()
    this.finish(status, 0)
  }

  get isFinished(): boolean {
    return this.finished
  }

  /** Counts and logs the answer, once. */
  finish(status: number, bytes: number): void {
    if (this.finished) return
    this.finished = true
    const shared = this.shared
    const milliseconds = performance.now() - this.started
    Metrics.record(this.method, this.route, status, milliseconds)
    shared.log(
      new AccessEntry(
        this.id,
        this.method,
        this.path,
        status,
        milliseconds,
        bytes,
        this.request.socket.remoteAddress ?? ""
      )
    )
  }
}

// Small declared bodies are let in and dropped by Node, which keeps the connection usable.
const expectsMore = (request: IncomingMessage): boolean => {
  if (request.headers["transfer-encoding"] !== undefined) return true
  return Number(request.headers["content-length"] ?? 0) > 65_536
}
