import { execFileSync, spawn } from "node:child_process"
import * as fs from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as os from "node:os"
import * as path from "node:path"
import { Effect } from "effect"

/** A request that the server received. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly sent: number
}

/** `git http-backend` behind an HTTP server on the loopback interface. */
export interface HttpBackend {
  readonly url: string
  /** The directory of the repositories. */
  readonly directory: string
  readonly requests: Array<ReceivedRequest>
  /** Creates an empty repository, and returns its address. */
  readonly create: (name: string, ...settings: ReadonlyArray<string>) => string
  readonly git: (name: string, ...args: ReadonlyArray<string>) => string
  /** Kills every process that serves a request, with its children. */
  readonly killServing: () => void
  /** Whether any request is being served. */
  readonly isServing: () => boolean
  /** Called before each request. Returns true if it handles the request itself. */
  intercept:
    | ((request: http.IncomingMessage, response: http.ServerResponse, run: () => void) => boolean)
    | undefined
}

const execPath = execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim()

const serve = (
  directory: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  asked: Array<ReceivedRequest>,
  serving: Set<number>
) => {
  const url = new URL(request.url ?? "/", "http://localhost")
  const child = spawn(path.join(execPath, "git-http-backend"), {
    // A new process group, which can be killed as a whole.
    detached: true,
    env: {
      PATH: process.env["PATH"] ?? "",
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_NOSYSTEM: "1",
      REMOTE_USER: "somebody",
      REMOTE_ADDR: "127.0.0.1",
      REQUEST_METHOD: request.method ?? "GET",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      CONTENT_LENGTH: request.headers["content-length"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? "")
    }
  })
  const { pid = 0 } = child
  serving.add(pid)
  child.once("close", (_, signal) => {
    serving.delete(pid)
    if (signal === null) response.end()
    else request.socket.destroy()
  })
  let sent = 0
  request.on("data", (bytes: Buffer) => {
    sent += bytes.length
  })
  request.on("end", () => asked.push({ method: request.method ?? "", path: url.pathname, sent }))
  request.pipe(child.stdin).on("error", () => {})
  let head: Buffer | undefined = Buffer.alloc(0)
  child.stdout.on("data", (bytes: Buffer) => {
    if (head === undefined) return void response.write(bytes)
    head = Buffer.concat([head, bytes])
    const end = head.indexOf("\r\n\r\n")
    if (end < 0) return
    for (const line of head.toString("latin1", 0, end).split("\r\n")) {
      const [name = "", value = ""] = line.split(/: (.*)/s)
      if (name.toLowerCase() === "status") response.statusCode = Number.parseInt(value, 10)
      else response.setHeader(name, value)
    }
    response.write(head.subarray(end + 4))
    head = undefined
  })
}

export const make = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "chainstore-backend-"))
    const serving = new Set<number>()
    const backend: { -readonly [Key in keyof HttpBackend]: HttpBackend[Key] } = {
      url: "",
      directory,
      requests: [],
      create: (name, ...settings) => {
        const place = path.join(directory, name)
        execFileSync("git", ["init", "-q", "--bare", "-b", "main", place])
        for (const setting of ["http.receivepack=true", "uploadpack.allowFilter=true", ...settings]) {
          execFileSync("git", ["-C", place, "config", ...setting.split("=")])
        }
        return `${backend.url}/${name}`
      },
      git: (name, ...args) =>
        execFileSync("git", ["-C", path.join(directory, name), ...args], { encoding: "utf8" }).trim(),
      killServing: () => {
        for (const pid of serving) {
          try {
            process.kill(-pid, "SIGKILL")
          } catch {
            // The process has ended already.
          }
        }
      },
      isServing: () => serving.size > 0,
      intercept: undefined
    }
    const server = http.createServer((request, response) => {
      const run = () => serve(directory, request, response, backend.requests, serving)
      if (backend.intercept?.(request, response, run) !== true) run()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    backend.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return { backend: backend as HttpBackend, server }
  }),
  ({ backend, server }) =>
    Effect.promise(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      fs.rmSync(backend.directory, { recursive: true, force: true })
    })
).pipe(Effect.map(({ backend }) => backend))
