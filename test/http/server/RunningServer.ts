import { connect, type Socket } from "node:net"
import {
  Direct,
  type Mount,
  Operational,
  Playground,
  PlaygroundDocs,
  PlaygroundHandlers,
  Server
} from "chainstore/http"
import { Context, Data, Effect, Layer, Logger, type Scope } from "effect"
import { PlaygroundGroup } from "../../../src/http/playground/Api.js"

export const own = { name: "chainstore", install: "npm install chainstore" }

/** The playground's operations and some more mounts, over the provided `Playground`. */
export const groups = (mounts: ReadonlyArray<Mount.Mount> = [], publicUrl?: string) =>
  Effect.gen(function* () {
    const handlers = yield* PlaygroundHandlers.handlers(PlaygroundHandlers.originOf(publicUrl))
    return {
      operations: Direct.operations(PlaygroundGroup, handlers),
      mounts: [yield* Operational.mount, yield* PlaygroundDocs.mount, ...mounts]
    }
  })

/** Runs a server on a free loopback port until the scope closes. */
export const running = (
  options: Partial<Server.ServerOptions> = {},
  mounts: ReadonlyArray<Mount.Mount> = [],
  playground: Layer.Layer<Playground.Playground> = Playground.layer(own),
  log: Layer.Layer<never> = Logger.remove(Logger.defaultLogger)
): Effect.Effect<{ readonly url: string; readonly port: number }, unknown, Scope.Scope> =>
  Layer.build(
    Server.layer({ ...Server.defaults, ...options }, groups(mounts, options.publicUrl)).pipe(
      Layer.provide(playground),
      Layer.provide(log)
    )
  ).pipe(
    Effect.map((context) => Context.get(context, Server.Server)),
    Effect.map(({ url }) => ({ url, port: Number(new URL(url).port) }))
  )

/** A parsed reply. */
export interface Wire {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A raw connection. Written bytes are sent unchanged. Replies are parsed by their Content-Length. */
export const raw = (port: number) =>
  Effect.acquireRelease(
    Effect.async<Raw, Broken>((resume) => {
      const socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(new Raw(socket))))
      socket.once("error", (error) => resume(Effect.fail(new Broken({ message: error.message }))))
    }),
    (connection) => Effect.sync(() => connection.socket.destroy())
  )

/** The connection closed before a complete reply. */
export class Broken extends Data.TaggedError("Broken")<{ readonly message: string }> {}

export class Raw {
  private buffer = Buffer.alloc(0)
  private waiting: Array<() => void> = []
  ended = false

  constructor(readonly socket: Socket) {
    const wake = () => {
      for (const resume of this.waiting.splice(0)) resume()
    }
    socket.on("data", (chunk) => {
      this.buffer = Buffer.concat([this.buffer, chunk])
      wake()
    })
    socket.on("close", () => {
      this.ended = true
      wake()
    })
    socket.on("end", () => {
      this.ended = true
      wake()
    })
    socket.on("error", () => wake())
  }

  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes)
  }

  private take(withBody: boolean): Wire | undefined {
    const end = this.buffer.indexOf("\r\n\r\n")
    if (end === -1) return undefined
    const [first, ...lines] = this.buffer.subarray(0, end).toString("latin1").split("\r\n")
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim()
      ])
    )
    const length = withBody ? Number(headers["content-length"] ?? 0) : 0
    if (this.buffer.length < end + 4 + length) return undefined
    const body = this.buffer.subarray(end + 4, end + 4 + length).toString("utf8")
    this.buffer = this.buffer.subarray(end + 4 + length)
    return { status: Number(first!.split(" ")[1]), headers, body }
  }

  /** The next reply. Fails if the connection closes before it. */
  answer(withBody = true): Effect.Effect<Wire, Broken> {
    return Effect.async<Wire, Broken>((resume) => {
      const look = () => {
        const found = this.take(withBody)
        if (found !== undefined) resume(Effect.succeed(found))
        else if (this.ended)
          resume(Effect.fail(new Broken({ message: "the connection ended without an answer" })))
        else this.waiting.push(look)
      }
      look()
    })
  }

  /** Waits until the server closes the connection. */
  get closed(): Effect.Effect<void> {
    return Effect.async<void>((resume) => {
      const look = () => (this.ended ? resume(Effect.void) : this.waiting.push(look))
      look()
    })
  }
}

/** The text of a request with a JSON body. */
export const post = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): string =>
  request("POST", path, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    ...headers
  }) + body

/** The headers of a request. */
export const request = (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {}
): string =>
  `${method} ${path} HTTP/1.1\r\n${Object.entries({ host: "localhost", ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`
