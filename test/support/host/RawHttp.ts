import { connect, type Socket } from "node:net"
import { Effect } from "effect"
import { HostServer } from "./HostServer.js"

/** Encodes packet lines. A number is a special packet without content. */
export const packets = (...lines: ReadonlyArray<string | 0 | 1>): string =>
  lines
    .map((line) =>
      typeof line === "number"
        ? line.toString().padStart(4, "0")
        : (line.length + 4).toString(16).padStart(4, "0") + line
    )
    .join("")

/** A protocol version 2 request for all objects of a commit. */
export const fetchAll = (commit: string): string =>
  packets("command=fetch", 1, "no-progress", `want ${commit}\n`, "done\n", 0)

/** The text of a request, with the token unless it is anonymous. */
export const send = (
  method: string,
  path: string,
  options: {
    readonly headers?: ReadonlyArray<string>
    readonly body?: string
    readonly anonymous?: boolean
  } = {}
) =>
  Effect.flatMap(HostServer, ({ token, url }) =>
    Effect.async<Socket>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
        const head = [
          `${method} ${path} HTTP/1.1`,
          "Host: 127.0.0.1",
          "User-Agent: test",
          ...(options.anonymous === true ? [] : [`Authorization: Bearer ${token}`]),
          ...(options.headers ?? [])
        ]
        socket.write(`${head.join("\r\n")}\r\n\r\n${options.body ?? ""}`, () =>
          resume(Effect.succeed(socket))
        )
      })
      socket.on("error", () => undefined)
    })
  )

/** Starts a clone and reads nothing of the reply. */
export const unreadClone = (name: string, commit: string, options: { readonly anonymous?: boolean } = {}) => {
  const body = fetchAll(commit)
  return send("POST", `/local/${name}.git/git-upload-pack`, {
    ...options,
    body,
    headers: [
      "Content-Type: application/x-git-upload-pack-request",
      "Git-Protocol: version=2",
      `Content-Length: ${body.length}`
    ]
  })
}

/** Everything that the server sends until the connection closes. */
export const readAll = (socket: Socket) =>
  Effect.async<string>((resume) => {
    let text = ""
    socket
      .on("data", (piece) => {
        text += piece.toString("latin1")
      })
      .on("close", () => resume(Effect.succeed(text)))
  })
