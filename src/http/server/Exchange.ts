import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http"
import { AccessEntry } from "./AccessLog.js"
import { type ClientConnection, connectionOf, type ServerState } from "./ClientConnection.js"
import { bodyOf, type HttpError } from "./HttpError.js"
import * as Metrics from "./Metrics.js"

/** The headers of every reply that does not set them itself. */
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

/** A request id that is unique in this process. */
export const newId = (): string => `${prefix}-${(++counter).toString(36)}`

const idOf = (request: IncomingMessage): string => {
  const requestId = request.headers["x-request-id"]
  return typeof requestId === "string" && requestId.length <= 64 && /^[\w.-]+$/.test(requestId)
    ? requestId
    : newId()
}

/** How long a connection stays open after an early reply to a body that is not read, so that the client sees the reply. */
const lingerMillis = 1000

/** The maximum size of an unread body that is discarded to keep its connection. A longer body closes the connection. */
const maxDiscardedBytes = 16 * 1024 * 1024

/** One HTTP request and its reply. Adds the request id and the security headers, and logs and counts the reply once. */
export class Exchange {
  readonly id: string
  readonly method: string
  readonly started = performance.now()
  /** The route label of the metrics. Its values must be bounded in number. */
  route = "unmatched"
  /** Interrupts the handler. */
  interrupt: (() => void) | undefined = undefined
  private finished = false
  /** Whether all earlier replies of the connection are sent. */
  private isNext = false
  /** Whether the body cannot be read to its end. */
  private isBroken = false
  /** The error of an unreadable body; undefined if the client disconnected. */
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

  /** Runs the handler after all earlier replies of the connection. */
  runInOrder(run: () => void): void {
    this.connection.enqueue(() => {
      this.isNext = true
      if (!this.isBroken) run()
      else if (this.malformed === undefined) this.abort()
      else this.closeMalformed()
    })
  }

  /** Replies, in order, with the error of an unreadable body. The connection cannot be used after it. */
  refuse(problem: HttpError | undefined): void {
    if (this.isBroken) return
    this.isBroken = true
    this.malformed = problem
    if (this.isNext) this.closeMalformed()
  }

  private closeMalformed(): void {
    // No reply is possible if the client disconnected or already has one. Closing the socket interrupts the handler.
    if (this.malformed === undefined || this.finished) this.request.socket.destroy()
    else {
      this.fail(this.malformed)
      this.interrupt?.()
    }
  }

  get origin(): string {
    return `http://${this.request.headers.host ?? "localhost"}`
  }

  /** Writes the status line and headers. Headers in `own` replace default headers. `length` is the length of the body, if known. */
  writeHead(
    status: number,
    own: Readonly<Record<string, string | Array<string>>>,
    length: number | undefined = undefined
  ): void {
    // After a timeout (408) the rest of the body is still to come, so the connection is closed.
    const closes =
      status === 408 || this.isBroken || (this.shared.draining && this.connection.latest === this)
    const bodiless = status === 204
    // A flat list of names and values: converting an object of headers took Node a sixth of the request's time.
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

  /** Sends a complete reply. The body is omitted for HEAD and for a status without a body. */
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
    const isHead = this.method === "HEAD"
    if (isHead) this.response.end()
    else this.response.end(body)
    this.finish(status, isHead ? 0 : bytes)
    this.discardBody()
  }

  sendJson(status: number, json: string): void {
    this.send(status, { "content-type": "application/json" }, json)
  }

  /** Sends a reply without a body. */
  sendEmpty(status: number, own: Readonly<Record<string, string | Array<string>>>): void {
    this.writeHead(status, own)
    this.response.end()
    this.finish(status, 0)
    this.discardBody()
  }

  /** Discards the rest of an unread body up to a limit. Node itself would discard it without a limit. */
  private discardBody(): void {
    const { request } = this
    if (request.complete || !expectsMore(request)) return
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > maxDiscardedBytes) request.socket.destroy()
    })
    // Marks the body as read, so that Node does not resume it itself.
    request.read(0)
  }

  /** Sends an error reply. If the body has not arrived, it is not read, and the connection closes after a delay. */
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
    const isHead = this.method === "HEAD"
    if (!isHead) this.response.write(body)
    setTimeout(() => {
      this.response.end()
      this.request.socket.destroySoon()
    }, lingerMillis).unref()
    this.finish(error.status, isHead ? 0 : bytes)
  }

  /** Destroys the reply: the client disconnected (499), or the reply broke off because of a server fault (500). */
  abort(status: 499 | 500 = 499): void {
    if (!this.response.writableEnded) this.response.destroy()
    this.finish(status, 0)
  }

  get isFinished(): boolean {
    return this.finished
  }

  /** Counts and logs the reply, once. */
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

// Node reads and discards small declared bodies itself, which keeps the connection usable.
const expectsMore = (request: IncomingMessage): boolean => {
  if (request.headers["transfer-encoding"] !== undefined) return true
  return Number(request.headers["content-length"] ?? 0) > 65_536
}
