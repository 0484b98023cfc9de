import { STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AccessEntry } from "./AccessLog.js"
import { newId, type Shared, securityHeaders } from "./Exchange.js"
import * as Metrics from "./Metrics.js"

const statusOf = (code: string | undefined): readonly [number, string, string] => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return [431, "RequestHeaderFieldsTooLarge", "The request's headers are larger than 16 KiB."]
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, "RequestTimeout", "The request's head did not arrive in time."]
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return [413, "PayloadTooLarge", "The request's chunk extensions are too large."]
    default:
      return [400, "ValidationError", "The request is not valid HTTP."]
  }
}

/** What Node knows of the request that a connection is in the middle of. */
interface NodeSocket extends Socket {
  readonly _httpMessage?: { readonly headersSent: boolean } | null
  readonly parser?: { readonly incoming?: { readonly complete: boolean } | null } | null
}

/** Whether what cannot be parsed belongs to a request that has its answer, or a part of it. */
const isAnswered = ({ _httpMessage, parser }: NodeSocket): boolean =>
  _httpMessage ? _httpMessage.headersSent : parser?.incoming?.complete === false

/** Answers what Node's parser refuses: it never becomes a request, so the answer is written to the socket itself. */
export const answer =
  (shared: Shared) =>
  (error: Error & { readonly code?: string }, duplex: Duplex): void => {
    const socket = duplex as NodeSocket
    if (!socket.writable || error.code === "ECONNRESET" || isAnswered(socket)) {
      socket.destroy()
      return
    }
    const [status, name, message] = statusOf(error.code)
    const id = newId()
    const body = JSON.stringify({ error: name, message })
    const headers = {
      ...securityHeaders,
      "x-request-id": id,
      "content-type": "application/json",
      "content-length": String(body.length),
      date: new Date().toUTCString(),
      connection: "close"
    }
    const head = Object.entries(headers).map(([key, value]) => `${key}: ${value}`)
    Metrics.record("UNKNOWN", "unparsable", status, 0)
    shared.log(new AccessEntry(id, "UNKNOWN", "", status, 0, body.length, socket.remoteAddress ?? ""))
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("\r\n")}\r\n\r\n${body}`)
    setTimeout(() => socket.destroySoon(), 250).unref()
  }
