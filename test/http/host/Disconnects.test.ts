import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger } from "effect"
import { AccessEntry } from "../../../src/http/server/AccessLog.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as RawHttp from "../../support/host/RawHttp.js"
import * as Rest from "../../support/host/Rest.js"

interface Line {
  readonly level: string
  readonly entry: AccessEntry | undefined
  readonly text: string
}

const lines: Array<Line> = []

const capture = Logger.replace(
  Logger.defaultLogger,
  Logger.make(({ cause, logLevel, message }) => {
    const only = Array.isArray(message) ? message[0] : message
    const entry = only instanceof AccessEntry ? only : undefined
    lines.push({ level: logLevel.label, entry, text: `${String(message)} ${String(cause)}` })
  })
)

const until = (what: string, condition: () => boolean) =>
  Effect.promise(async () => {
    for (let attempt = 0; attempt < 1000; attempt++) {
      if (condition()) return
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.fail(what)
  })

/** The running processes whose command line contains a directory. */
const running = (directory: string, program: string): number =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8")
      return line.includes(program) && line.includes(directory)
    } catch {
      return false
    }
  }).length

/** The number of open unnamed files on the disk of a directory. */
const spools = (directory: string): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${fd}`)
      return file.startsWith(directory) && file.endsWith(" (deleted)")
    } catch {
      return false
    }
  }).length

/** A connection that has sent the headers of a request. */
const begin = (method: string, path: string, headers: Record<string, string>) =>
  Effect.flatMap(HostServer, ({ token, url }) =>
    Effect.async<Socket>((resume) => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () => {
        const all = {
          host: "127.0.0.1",
          "user-agent": "leaver",
          authorization: `Bearer ${token}`,
          ...headers
        }
        const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
        socket.write(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n`, () =>
          resume(Effect.succeed(socket))
        )
      })
      socket.on("error", () => undefined)
    })
  )

/** The log entries of requests whose path contains `part`, and all errors. */
const logged = (part: string) => ({
  entries: lines.flatMap(({ entry }) => (entry?.path.includes(part) === true ? [entry.status] : [])),
  errors: lines.filter(({ level }) => level !== "INFO" && level !== "DEBUG").map(({ text }) => text)
})

const fine = Effect.map(Rest.get("/zen"), ({ status }) => assert.strictEqual(status, 200))

const pushHead = { "content-type": "application/x-git-receive-pack-request" }

const bounds = { maxTransfers: 1, maxWaiting: 1, maxBytesInFlight: 96 * 1024 * 1024 }

layer(host(bounds).pipe(Layer.provideMerge(capture)), { timeout: 60_000 })(
  "clients that disconnect early",
  (it) => {
    it.effect("in the middle of a large reply releases its memory, and logs one line", () =>
      Effect.gen(function* () {
        const content = Buffer.alloc(12_000_000, "chainstore ")
        const made = yield* Rest.repository("answers", { "large.bin": content })
        const oid = made?.blobs.get("large.bin") ?? ""
        const path = `/api/v3/repos/local/answers/git/blobs/${oid}`
        for (const accept of ["application/json", "application/vnd.github.raw"]) {
          for (let leaver = 0; leaver < 3; leaver++) {
            const socket = yield* begin("GET", path, { accept })
            yield* Effect.async<void>((resume) => {
              socket.once("data", () => resume(Effect.void))
            })
            socket.destroy()
          }
        }
        yield* until("every leaver is logged", () => logged(oid).entries.length === 6)
        assert.deepStrictEqual([...new Set(logged(oid).entries)], [499])
        const { body } = yield* Rest.get(`/repos/local/answers/git/blobs/${oid}`)
        assert.isTrue(Buffer.from(body.content, "base64").equals(content))
        assert.strictEqual(body.size, content.length)
        const rows: ReadonlyArray<string> = body.content.split("\n")
        assert.isTrue(rows.slice(0, -2).every((row) => row.length === 60) && rows.at(-1) === "")
        assert.deepStrictEqual(logged(oid).errors, [])
      })
    )

    it.effect("in the middle of an upload changes nothing, and leaves one quiet line", () =>
      Effect.gen(function* () {
        const { directory } = yield* HostServer
        const made = yield* Rest.repository("uploads", { "a.json": "1\n" })
        const body = `{"message":"m","content":"${"QUFB".repeat(1_000_000)}"}`
        for (const path of ["/repos/local/uploads/contents/big.json", "/repos/local/uploads/git/blobs"]) {
          const socket = yield* begin(path.endsWith("blobs") ? "POST" : "PUT", path, {
            "content-length": String(body.length)
          })
          yield* Effect.async<void>((resume) => {
            socket.write(body.slice(0, 1_500_000), () => resume(Effect.void))
          })
          yield* until("the upload is being taken in", () => spools(directory) === 1)
          socket.destroy()
          yield* until("the upload is logged", () => logged(path).entries.length === 1)
          assert.deepStrictEqual(logged(path), { entries: [499], errors: [] })
          assert.strictEqual(spools(directory), 0)
        }
        const push = yield* begin("POST", "/local/uploads.git/git-receive-pack", {
          ...pushHead,
          "content-length": "4000000"
        })
        push.write(Buffer.alloc(1_000_000, 1))
        yield* until("the push is being taken in", () => spools(directory) === 1)
        push.destroy()
        yield* until("what was taken in is gone", () => spools(directory) === 0)
        yield* until("the push is logged", () => logged("git-receive-pack").entries.length === 1)
        assert.deepStrictEqual(logged("git-receive-pack"), { entries: [499], errors: [] })
        const { body: head } = yield* Rest.get("/repos/local/uploads/git/ref/heads/main")
        assert.strictEqual(head.object.sha, made?.commit)
      })
    )

    it.effect("while a push waits for the writers' turn: it is not made, and nothing of it stays", () =>
      Effect.gen(function* () {
        const { directory, repositories } = yield* HostServer
        const made = yield* Rest.repository("turns", { "a.json": "1\n" })
        const sha = made!.commit
        yield* Rest.request("POST", "/repos/local/turns/git/refs", { body: { ref: "refs/heads/x", sha } })
        const all = { id: "t", login: "t", grants: [{ repository: "*", access: "write" as const }] }
        const { git } = yield* repositories.openForRead(all, "local", "turns")
        const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const writer = yield* Effect.fork(
          git.withExclusiveAccess(Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(end)))
        )
        yield* Deferred.await(begun)
        // A deletion needs no pack: Git reaches its hook and waits for the lock.
        const ref = `${sha} ${"0".repeat(40)} refs/heads/x\0report-status delete-refs`
        const line = `${(ref.length + 4).toString(16).padStart(4, "0")}${ref}0000`
        const push = yield* begin("POST", "/local/turns.git/git-receive-pack", {
          ...pushHead,
          "content-length": String(line.length)
        })
        push.write(line)
        yield* until("the push waits", () => running(directory, "receive-pack") > 0)
        push.destroy()
        yield* until("the push is gone", () => running(directory, "receive-pack") === 0)
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(writer)
        assert.strictEqual(running(directory, "receive-pack"), 0)
        const kept = yield* Rest.request("GET", "/repos/local/turns/git/ref/heads/x")
        assert.strictEqual(kept.status, 200)
        const put = yield* Rest.request("PUT", "/repos/local/turns/contents/b.json", {
          body: { message: "after", content: Rest.base64("2\n") }
        })
        assert.strictEqual(put.status, 201)
      }).pipe(Effect.scoped)
    )

    it.effect(
      "transfers are bounded: one runs, one waits, the next is refused, and the API responds meanwhile",
      () =>
        Effect.gen(function* () {
          const { directory, token, url } = yield* HostServer
          const made = yield* Rest.repository("crowd", { big: randomBytes(24 * 1024 * 1024) })
          const clone = RawHttp.unreadClone("crowd", made!.commit)
          const first = yield* clone
          yield* until("the first runs", () => running(directory, "upload-pack") === 1)
          const second = yield* clone
          const refused = yield* Effect.promise(async () => {
            for (let attempt = 0; ; attempt++) {
              const answer = await fetch(`${url}/local/crowd.git/git-upload-pack`, {
                method: "POST",
                headers: {
                  authorization: `Bearer ${token}`,
                  "content-type": "application/x-git-upload-pack-request"
                },
                body: "0000",
                signal: AbortSignal.timeout(1000)
              }).catch(() => undefined)
              if (answer !== undefined || attempt > 20) return answer
            }
          })
          assert.strictEqual(refused?.status, 503)
          assert.strictEqual(refused?.headers.get("retry-after"), "1")
          // A process that is about to start another one is listed twice for a moment.
          yield* until("one runs alone", () => running(directory, "upload-pack") === 1)
          const { status } = yield* Rest.get("/repos/local/crowd/commits")
          assert.strictEqual(status, 200)
          second.destroy()
          yield* until("the second is logged", () =>
            logged("crowd.git/git-upload-pack").entries.includes(499)
          )
          const third = yield* clone
          first.destroy()
          yield* until("the third takes the place", () => {
            const { entries } = logged("crowd.git/git-upload-pack")
            return (
              entries.filter((one) => one !== 503).length === 2 && running(directory, "upload-pack") === 1
            )
          })
          third.destroy()
          yield* until("nobody is left", () => running(directory, "upload-pack") === 0)
          yield* fine
          assert.deepStrictEqual(logged("crowd").errors, [])
        })
    )
  }
)
