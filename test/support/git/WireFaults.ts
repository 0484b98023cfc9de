import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { HttpBackend } from "./HttpBackend.js"

/** What happens to one request or its response between a client and a Git server. */
export const wireFaults = [
  /** The connection ends before the server has seen the request. */
  "lost request",
  /** The server carries out the request, and the connection ends instead of a response. */
  "lost response",
  /** The server sees the request twice; the client gets the second response. */
  "duplicate",
  /** The response ends in the middle: with the connection, or as if it were whole. */
  "cut off",
  "truncated",
  /** A byte of the pack is another one, or the response is no packet at all. */
  "garbage",
  "wrong type",
  "unavailable",
  "slow",
  "redirect"
] as const

export type WireFault = (typeof wireFaults)[number]

/** A request with this header is subject to faults. */
export const exposed = "x-exposed-to-faults"
const delivered = "x-delivered"

export const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** Whether an interceptor sees a request that `deliver` sends. */
export const isDelivered = (request: IncomingMessage): boolean => request.headers[delivered] !== undefined

/** Sends a request to the server as it is, past the interceptor. */
export const deliver = async (backend: HttpBackend, request: IncomingMessage, body: Buffer) => {
  const response = await fetch(`${backend.url}${request.url}`, {
    method: request.method ?? "GET",
    headers: {
      "content-type": request.headers["content-type"] ?? "",
      "git-protocol": String(request.headers["git-protocol"] ?? ""),
      [delivered]: "1"
    },
    ...(request.method === "POST" ? { body: new Uint8Array(body) } : {})
  })
  return {
    status: response.status,
    type: response.headers.get("content-type") ?? "",
    bytes: Buffer.from(await response.arrayBuffer())
  }
}

/** Bytes that are surely no response of Git: the middle of a pack differs, anything else is not in packets. */
const spoiled = (bytes: Buffer): Buffer => {
  const copy = Buffer.from(bytes)
  const pack = copy.indexOf("PACK")
  if (pack < 0) return Buffer.from(`<html>${"?".repeat(copy.length)}`)
  // Inside the side band's first packet of the pack: behind the pack's own header, and before its end.
  const at = Math.min(pack + 14, copy.length - 8)
  copy[at] = copy[at]! ^ 0x55
  return copy
}

/** A place that no request may reach, where redirects lead to. */
export const elsewhere = Effect.acquireRelease(
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

/** Gives requests that are exposed to it the faults that `next` draws. */
export const inject =
  (backend: HttpBackend, next: () => WireFault | undefined, redirectTo: string) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.headers[exposed] === undefined || isDelivered(request)) return false
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
      if (fault === "duplicate") await deliver(backend, request, body)
      const { bytes, status, type } = await deliver(backend, request, body)
      if (fault === "lost response") return cut()
      response.writeHead(status, {
        "content-type": fault === "wrong type" ? "text/html" : type,
        ...(fault === "cut off" ? { "content-length": bytes.length } : {})
      })
      const half = bytes.length >> 1
      if (fault === "truncated") return void response.end(bytes.subarray(0, half))
      if (fault === "garbage") return void response.end(spoiled(bytes))
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

/** A server that lacks capabilities which Git's own has, and one that speaks version 0 alone. */
export const stripped =
  (
    backend: HttpBackend,
    lacks: {
      readonly version2?: boolean | undefined
      readonly capabilities?: ReadonlyArray<string> | undefined
    }
  ) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (isDelivered(request)) return false
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
      const { bytes, status, type } = await deliver(backend, request, body)
      const text = bytes.toString("latin1")
      response.writeHead(status, { "content-type": type })
      if (!text.includes("\0")) return void response.end(bytes)
      // Packets anew, since the length of the first one has changed.
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
