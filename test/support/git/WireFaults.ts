import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { HttpBackend } from "./HttpBackend.js"

/** Faults of one request or of its response between a client and a Git server. */
export const wireFaults = [
  /** The connection ends before the server receives the request. */
  "lost request",
  /** The server processes the request, and the connection ends instead of a response. */
  "lost response",
  /** The server receives the request twice; the client receives the second response. */
  "duplicate",
  /** The response is incomplete: the connection ends, or the response looks complete. */
  "cut off",
  "truncated",
  /** A byte of the pack is changed, or the response does not consist of packets. */
  "garbage",
  "wrong type",
  "unavailable",
  "slow",
  "redirect"
] as const

export type WireFault = (typeof wireFaults)[number]

/** Requests with this header are subject to faults. */
export const faultHeader = "x-exposed-to-faults"
const forwardedHeader = "x-forwarded-by-test"

export const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** Whether a request was sent by `forward`. */
export const isForwarded = (request: IncomingMessage): boolean =>
  request.headers[forwardedHeader] !== undefined

/** Sends a request to the server unchanged, past the interceptor. */
export const forward = async (backend: HttpBackend, request: IncomingMessage, body: Buffer) => {
  const response = await fetch(`${backend.url}${request.url}`, {
    method: request.method ?? "GET",
    headers: {
      "content-type": request.headers["content-type"] ?? "",
      "git-protocol": String(request.headers["git-protocol"] ?? ""),
      [forwardedHeader]: "1"
    },
    ...(request.method === "POST" ? { body: new Uint8Array(body) } : {})
  })
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    bytes: Buffer.from(await response.arrayBuffer())
  }
}

/** Corrupts a response: changes a byte inside a pack, or replaces any other response by bytes that are not packets. */
const corrupted = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes)
  const pack = copy.indexOf("PACK")
  if (pack < 0) return Buffer.from(`<html>${"?".repeat(copy.length)}`)
  // A position behind the header of the pack, inside the first packet of the side band.
  const at = Math.min(pack + 14, copy.length - 8)
  copy[at] = copy[at]! ^ 0x55
  return copy
}

/** The server that redirects lead to. No request may reach it. */
export const redirectTarget = Effect.acquireRelease(
  Effect.async<{ readonly url: string; readonly reached: Array<string>; readonly close: () => void }>(
    (resume) => {
      const reached: Array<string> = []
      const server = createServer((request, response) => {
        reached.push(`${request.method} ${request.url} ${request.headers.authorization ?? "without a token"}`)
        response.writeHead(200, { "content-type": "application/x-git-upload-pack-result" }).end("0000")
      })
      server.listen(0, "127.0.0.1", () =>
        resume(
          Effect.succeed({
            url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
            reached,
            close: () => server.closeAllConnections() ?? server.close()
          })
        )
      )
    }
  ),
  ({ close }) => Effect.sync(close)
)

/** Injects the faults that `next` returns into requests with the fault header. */
export const injectFaults =
  (backend: HttpBackend, next: () => WireFault | undefined, redirectTo: string) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.headers[faultHeader] === undefined || isForwarded(request)) return false
    const fault = next()
    if (fault === undefined) return false
    const cut = () => void request.socket.destroy()
    const giving = async () => {
      const body = await bodyOf(request)
      if (fault === "lost request") return cut()
      if (fault === "unavailable") return void response.writeHead(503).end("no")
      if (fault === "redirect") {
        return void response.writeHead(302, { location: `${redirectTo}${request.url}` }).end()
      }
      if (fault === "duplicate") await forward(backend, request, body)
      const { bytes, status, type } = await forward(backend, request, body)
      if (fault === "lost response") return cut()
      response.writeHead(status, {
        "content-type": fault === "wrong type" ? "text/html" : type,
        ...(fault === "cut off" ? { "content-length": bytes.length } : {})
      })
      const half = bytes.length >> 1
      if (fault === "truncated") return void response.end(bytes.subarray(0, half))
      if (fault === "garbage") return void response.end(corrupted(bytes))
      if (fault === "cut off") return void response.write(bytes.subarray(0, half), cut)
      if (fault !== "slow") return void response.end(bytes)
      for (const at of [0, 1, 2, 3]) {
        const part = Math.ceil(bytes.length / 4)
        response.write(bytes.subarray(at * part, (at + 1) * part))
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      response.end()
    }
    giving().catch(cut)
    return true
  }

const framed = (content: string) => `${(content.length + 4).toString(16).padStart(4, "0")}${content}`

/** Removes capabilities from the server's advertisement, or limits the server to version 0. */
export const withoutCapabilities =
  (
    backend: HttpBackend,
    lacks: {
      readonly version2?: boolean | undefined
      readonly capabilities?: ReadonlyArray<string> | undefined
    }
  ) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (isForwarded(request)) return false
    if (lacks.version2 === true) delete request.headers["git-protocol"]
    if (request.method !== "GET") return false
    const without = (text: string) =>
      text.replace(/\0[^\n]*/, (all) =>
        all
          .split(" ")
          .filter((word) => !(lacks.capabilities ?? []).includes(word.replace("\0", "")))
          .join(" ")
          .replace(/^(?!\0)/, "\0")
      )
    void bodyOf(request).then(async (body) => {
      const { bytes, status, type } = await forward(backend, request, body)
      const text = bytes.toString("latin1")
      response.writeHead(status, { "content-type": type })
      if (!text.includes("\0")) return void response.end(bytes)
      // The packets are encoded again, since the length of the first one has changed.
      let rest = text
      let answer = ""
      while (rest !== "") {
        const length = Number.parseInt(rest.slice(0, 4), 16)
        answer += length === 0 ? "0000" : framed(without(rest.slice(4, length)))
        rest = rest.slice(Math.max(length, 4))
      }
      response.end(Buffer.from(answer, "latin1"))
    })
    return true
  }
