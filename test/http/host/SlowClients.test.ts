import { randomBytes } from "node:crypto"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as RawHttp from "../../support/host/RawHttp.js"
import * as Rest from "../../support/host/Rest.js"

/** The reply to the beginning of a body whose rest never arrives, until `enough` or the end of the connection. */
const stalled = (path: string, headers: ReadonlyArray<string>, body: string, enough: RegExp) =>
  Effect.flatMap(HostServer, ({ url }) =>
    Effect.promise(
      () =>
        new Promise<string>((resolve) => {
          let answer = ""
          const head = [`POST ${path} HTTP/1.1`, "Host: 127.0.0.1", "User-Agent: test", ...headers]
          const chunked = `${body.length.toString(16)}\r\n${body}\r\n`
          const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
            socket.write(`${head.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`)
          )
          socket.setTimeout(5000, () => socket.destroy())
          socket
            .on("data", (piece) => {
              answer += piece
              if (enough.test(answer)) socket.destroy()
            })
            .on("error", () => undefined)
            .on("close", () => resolve(answer))
        })
    )
  )

/** Sends a request and reads nothing. Returns a function that disconnects. */
const unread = (path: string) =>
  Effect.flatMap(HostServer, ({ url }) =>
    Effect.sync(() => {
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
        socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: test\r\n\r\n`)
      )
      socket.on("error", () => undefined)
      return () => socket.destroy()
    })
  )

const git = (service: string) => `Content-Type: application/x-git-${service}-request`

/** Sends one byte of a body every 50 ms and returns the reply. */
const dribbled = (path: string, headers: ReadonlyArray<string>, framing: "length" | "chunked") =>
  Effect.flatMap(
    RawHttp.send("POST", path, {
      headers: [...headers, framing === "length" ? "Content-Length: 10000" : "Transfer-Encoding: chunked"]
    }),
    (socket) => {
      const dribble = setInterval(() => socket.write(framing === "length" ? " " : "1\r\n0\r\n"), 50)
      socket.once("data", () => clearInterval(dribble)).on("close", () => clearInterval(dribble))
      return RawHttp.readAll(socket)
    }
  )

layer(host({ bodyTime: "300 millis" }), { timeout: 60_000 })("clients that send single bytes", (it) => {
  it.effect("gets a timeout, for every request", () =>
    Effect.gen(function* () {
      yield* Rest.repository("dribbled", { "a.json": "1\n" })
      for (const [path, ...headers] of [
        ["/api/v3/repos/local/dribbled/git/blobs"],
        ["/api/graphql"],
        ["/local/dribbled.git/git-upload-pack", git("upload-pack")],
        ["/local/dribbled.git/git-receive-pack", git("receive-pack")]
      ] as const) {
        for (const framing of ["length", "chunked"] as const) {
          assert.match(yield* dribbled(path, headers, framing), /^HTTP\/1\.1 408 [\s\S]*in time/, path)
        }
      }
    })
  )
})

layer(host({ maxTransfers: 1, maxWaiting: 0 }), { timeout: 60_000 })("clients without a token", (it) => {
  it.effect("take no slot from clients with a token, and no slot by half a request", () =>
    Effect.gen(function* () {
      const big = { big: randomBytes(24 * 1024 * 1024) }
      const made = yield* Rest.repository("places", big, { private: false })
      const archive = "/api/codeload/local/places/tar.gz/main"
      const status = (token: string | undefined) =>
        Effect.map(
          Rest.request("HEAD", archive, token === undefined ? { token: null } : {}),
          (answer) => answer.status
        )
      const { token } = yield* HostServer
      const halves = yield* Effect.all(
        Array.from({ length: 8 }, () =>
          RawHttp.send("POST", "/local/places.git/git-upload-pack", {
            anonymous: true,
            headers: [git("upload-pack"), "Content-Length: 1000"],
            body: "0014"
          })
        )
      )
      assert.strictEqual(yield* status(undefined), 200)
      const clone = yield* RawHttp.unreadClone("places", made!.commit, { anonymous: true })
      yield* Effect.async<void>((resume) => {
        clone.once("readable", () => resume(Effect.void))
      })
      assert.deepStrictEqual([yield* status(undefined), yield* status(token)], [503, 200])
      for (const socket of [...halves, clone]) socket.destroy()
    })
  )
})

layer(host({ bodyIdle: "200 millis", maxTransfers: 1, maxWaiting: 0, connectionIdle: "1 second" }), {
  timeout: 60_000
})("clients that stop", (it) => {
  it.effect("sending get a timeout, and release the slot", () =>
    Effect.gen(function* () {
      const { token } = yield* HostServer
      yield* Rest.repository("stalled", { "a.json": "1\n" }, { private: false })
      const mine = `Authorization: Bearer ${token}`
      const blob = "/api/v3/repos/local/stalled/git/blobs"
      assert.match(yield* stalled(blob, [mine], '{"content":"', /in time/), /^HTTP\/1\.1 408 [\s\S]*in time/)
      const push = "/local/stalled.git/git-receive-pack"
      assert.match(yield* stalled(push, [mine, git("receive-pack")], "00", /in time/), /^HTTP\/1\.1 408 /)
      const fetched = "/local/stalled.git/git-upload-pack"
      const packed = [git("upload-pack"), "Content-Encoding: gzip"]
      assert.match(yield* stalled(fetched, [git("upload-pack")], "0014", /in time/), /^HTTP\/1\.1 408 /)
      assert.match(yield* stalled(fetched, packed, "\x1f", /in time/), /^HTTP\/1\.1 408 /)
      const archive = yield* Rest.get("/api/codeload/local/stalled/tar.gz/main")
      assert.strictEqual(archive.status, 200)
    })
  )

  it.effect("reading gives it back too", () =>
    Effect.gen(function* () {
      yield* Rest.repository("unread", { big: randomBytes(16 * 1024 * 1024) }, { private: false })
      const archive = "/api/codeload/local/unread/tar.gz/main"
      const leave = yield* unread(archive)
      const next = Effect.map(
        Rest.request("HEAD", archive, { headers: { connection: "close" }, token: null }),
        ({ status }) => status
      )
      const until = (wanted: number) =>
        Effect.gen(function* () {
          for (let attempt = 0; attempt < 200; attempt++) {
            if ((yield* next) === wanted) return true
            yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
          }
          return false
        })
      assert.isTrue(yield* until(503))
      assert.isTrue(yield* until(200))
      leave()
    })
  )
})
