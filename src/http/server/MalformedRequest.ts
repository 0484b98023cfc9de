import { type IncomingMessage, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AccessEntry } from "./AccessLog.js"
import { connectionOf, type ServerState } from "./ClientConnection.js"
import * as ErrorReply from "./ErrorReply.js"
import { newId, securityHeaders } from "./Exchange.js"
import { bodyOf, type HttpError } from "./HttpError.js"
import * as Metrics from "./Metrics.js"

/** Whether the client closed the connection in the middle of a body. */
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

/** The method and path of a request in the log and the metrics. */
interface LoggedRequest {
  readonly method: string
  readonly path: string
}

/** Writes an error reply to the socket directly and closes the connection. */
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
 * Replies to bytes that Node's HTTP parser rejects, after the replies of earlier requests. Invalid bytes of a body end
 * their request. Other invalid bytes get a reply of their own.
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

/** Replies 405 to CONNECT: the server is not a proxy. Node passes such a request with its socket. */
export const onConnect =
  (shared: ServerState) =>
  (request: IncomingMessage, duplex: Duplex): void => {
    const socket = duplex as Socket
    // Node has detached the socket, so it has no other error listener.
    socket.on("error", () => socket.destroy())
    const path = request.url ?? ""
    const problem = ErrorReply.methodNotAllowed("CONNECT", path, ["GET", "POST"])
    connectionOf(socket, shared).endAfterReplies(() =>
      writeToSocket(socket, shared, { method: "CONNECT", path }, problem)
    )
  }
