import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { port, serve } from "../support/service/ServiceProcess.js"

const token = "exhaustion-test-token-0123456789"

const opened = (at: number, text: string) =>
  Effect.async<Socket>((resume) => {
    const socket = connect(at, "127.0.0.1", () => {
      socket.write(text)
      resume(Effect.succeed(socket))
    })
    socket.on("error", () => resume(Effect.succeed(socket)))
  })

const head = (method: string, path: string, ...headers: ReadonlyArray<string>) =>
  `${[`${method} ${path} HTTP/1.1`, "Host: 127.0.0.1", "User-Agent: test", ...headers].join("\r\n")}\r\n\r\n`

const git = "/local/demo.git"
const fetched = "Content-Type: application/x-git-upload-pack-request"
const pushed = "Content-Type: application/x-git-receive-pack-request"
const own = `Authorization: Bearer ${token}`

/** What takes connections, places, files and patience, and gives nothing back by itself. */
const hostile: Readonly<Record<string, string>> = {
  "says nothing": "",
  "half a head": "GET /zen HTTP/1.1\r\nHost: 127.0.0.1\r\n",
  "half a fetch": `${head("POST", `${git}/git-upload-pack`, fetched, "Content-Length: 100000")}0032`,
  "half a push": `${head("POST", `${git}/git-receive-pack`, pushed, own, "Content-Length: 100000")}${"0".repeat(80_000)}`,
  "half a document": `${head("PUT", "/repos/local/demo/contents/x", own, "Content-Length: 1000")}{`,
  "half a query": `${head("POST", "/graphql", own, "Content-Length: 1000")}{`,
  "an archive unread": head("GET", "/api/codeload/local/demo/tar.gz/main"),
  "a tree unread": head("GET", "/repos/local/demo/git/trees/main?recursive=1")
}

it.scopedLive(
  "few file descriptors and many wasteful clients: the process lives, others are served, and everything recovers",
  () =>
    Effect.gen(function* () {
      const environment = { CHAINSTORE_HOST_TOKEN: token }
      const serving = yield* serve(environment, [], "host", { openFiles: 320 })
      const at = yield* port(serving)
      const url = `http://127.0.0.1:${at}`
      const descriptors = () => readdirSync(`/proc/${serving.child.pid}/fd`).length
      const ask = (path: string, headers: Record<string, string> = {}) =>
        Effect.promise(() =>
          fetch(url + path, {
            headers: { "user-agent": "test", connection: "close", ...headers },
            signal: AbortSignal.timeout(20_000)
          }).then(
            async (answer) => {
              await answer.text()
              return answer.status
            },
            (cause: unknown) => String(cause)
          )
        )
      const served = Effect.all([
        ask("/zen"),
        ask("/repos/local/demo/contents"),
        ask("/repos/local/demo/commits", { authorization: `Bearer ${token}` }),
        ask(`${git}/info/refs?service=git-upload-pack`),
        ask(`${git}/info/refs?service=git-upload-pack`, { authorization: `Bearer ${token}` })
      ])
      assert.deepStrictEqual(yield* served, [200, 200, 200, 200, 200])
      const before = descriptors()
      for (const [name, text] of Object.entries(hostile)) {
        const sockets: Array<Socket> = []
        for (let count = 0; count < (text === "" ? 1_000 : 100); count++)
          sockets.push(yield* opened(at, text))
        assert.deepStrictEqual(yield* served, [200, 200, 200, 200, 200], name)
        for (const socket of sockets) socket.destroy()
      }
      assert.isNull(serving.child.exitCode)
      const directory = mkdtempSync(join(tmpdir(), "exhaustion-"))
      yield* Effect.promise(() => promisify(execFile)("git", ["clone", "-q", url + git, directory]))
      rmSync(directory, { recursive: true, force: true })
      for (let attempt = 0; attempt < 200 && descriptors() > before + 16; attempt++)
        yield* Effect.sleep("100 millis")
      assert.isAtMost(descriptors(), before + 16)
    }),
  300_000
)
