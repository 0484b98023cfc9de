import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AccessEntry } from "./AccessLog.js"
import { connectionOf, type ServerState } from "./ClientConnection.js"
import * as ErrorReply from "./ErrorReply.js"
import { newId, securityHeaders } from "./Exchange.js"
import { bodyOf, type HttpError } from "./HttpError.js"
import * as Metrics from "./Metrics.js"

/** The client has ended the connection in the middle of a body. */
const isEnd = (code: string | undefined) => code === "HPE_INVALID_EOF_STATE"

const problemOf = (code: string | undefined): HttpError => {
  const problem = (status: number, _tag: string, message: string): HttpError => ({ _tag, status, message })
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return problem(431, "RequestHeaderFieldsTooLarge", "The request's headers are larger than 16 KiB.")
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return problem(408, "RequestTimeout", "The request's head did not arrive in time.")
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return problem(413, "PayloadTooLarge", "The request's chunk extensions are too large.")
    default:
      return problem(400, "ValidationError", "The request is not valid HTTP.")
  }
}

/** What the log and the metrics say of a request. */
interface LoggedRequest {
  readonly method: string
  readonly path: string
}

/** Writes an answer to the socket itself, as the last one of its connection. */
const writeToSocket = (
  socket: Socket,
  shared: ServerState,
  { method, path }: LoggedRequest,
  problem: HttpError
) => {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const id = newId()
  const body = bodyOf(problem)
  const headers = {
    ...securityHeaders,
    ...problem.headers,
    "x-request-id": id,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    date: new Date().toUTCString(),
    connection: "close"
  }
  const head = Object.entries(headers).map(([key, value]) => `${key}: ${value}`)
  const { status } = problem
  Metrics.record(method, "unparsable", status, 0)
  shared.log(new AccessEntry(id, method, path, status, 0, body.length, socket.remoteAddress ?? ""))
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("\r\n")}\r\n\r\n${body}`)
  setTimeout(() => socket.destroySoon(), 250).unref()
}

const unknown: LoggedRequest = { method: "UNKNOWN", path: "" }

/**
 * Answers what Node's parser refuses, after the requests before it. Bytes of a body are part of their request, which is
 * answered for them; others never become a request.
 */
export const onClientError =
  (shared: ServerState) =>
  (error: Error & { readonly code?: string }, duplex: Duplex): void => {
    const socket = duplex as Socket
    if (!socket.writable || error.code === "ECONNRESET") {
      socket.destroy()
      return
    }
    const connection = connectionOf(socket, shared)
    const problem = problemOf(error.code)
    if (connection.latest?.request.complete === false)
      connection.latest.refuse(isEnd(error.code) ? undefined : problem)
    else connection.endAfterReplies(() => writeToSocket(socket, shared, unknown, problem))
  }

/** Answers CONNECT, which Node hands over with its socket: this is no proxy. */
export const onConnect =
  (shared: ServerState) =>
  (request: IncomingMessage, duplex: Duplex): void => {
    const socket = duplex as Socket
    // Node has let go of the socket: nobody else hears of its errors.
    socket.on("error", () => socket.destroy())
    const path = request.url ?? ""
    const problem = ErrorReply.methodNotAllowed("CONNECT", path, ["GET", "POST"])
    connectionOf(socket, shared).endAfterReplies(() =>
      writeToSocket(socket, shared, { method: "CONNECT", path }, problem)
    )
  }
