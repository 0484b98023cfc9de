import { execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

/** The running programs that name a directory on their command line. */
const running = (directory: string): number =>
  readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8")
      return line.includes("upload-pack") && line.includes(directory)
    } catch {
      return false
    }
  }).length

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let attempt = 0; attempt < 500 && !condition(); attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return condition()
  })

layer(host(), { timeout: 60_000 })("git over http", (it) => {
  it.effect("a child ends when its client leaves in the middle", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      yield* Rest.repository("leaver", { "a.json": "1\n" })
      const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
        socket.write(
          [
            "POST /local/leaver.git/git-upload-pack HTTP/1.1",
            "Host: 127.0.0.1",
            `Authorization: Bearer ${token}`,
            "Content-Type: application/x-git-upload-pack-request",
            "Transfer-Encoding: chunked",
            "",
            "4",
            "0014",
            ""
          ].join("\r\n")
        )
      )
      socket.on("error", () => undefined)
      assert.isTrue(yield* until(() => running(directory) > 0))
      socket.destroy()
      assert.isTrue(yield* until(() => running(directory) === 0))
    })
  )

  it.effect("a push that ends early leaves no directory behind", () =>
    Effect.gen(function* () {
      const { directory, token, url } = yield* HostServer
      yield* Rest.repository("early", { "a.json": "1\n" })
      const work = `${directory}/early`
      const git = (...args: ReadonlyArray<string>) =>
        execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@x", "-C", work, ...args])
      execFileSync("git", ["init", "-q", "-b", "main", work])
      git("config", "core.compression", "0")
      for (const name of ["one", "two"]) writeFileSync(`${work}/${name}`, randomBytes(12 * 1024 * 1024))
      git("add", ".")
      git("commit", "-q", "-m", "large")
      const objects = `${directory}/repos/local/early.git/objects`
      const kept = () => readdirSync(objects).filter((name) => name.includes("incoming"))
      const remote = `${url.replace("//", `//x:${token}@`)}/local/early.git`
      const push = spawn("git", ["push", remote, "main:other"], {
        cwd: work,
        stdio: "ignore",
        detached: true
      })
      const ended = once(push, "exit")
      yield* until(() => kept().length > 0 || push.exitCode !== null)
      assert.isNull(push.exitCode)
      process.kill(-push.pid!, "SIGKILL")
      yield* Effect.promise(() => ended)
      assert.isTrue(yield* until(() => kept().length === 0))
    })
  )

  it.effect("what is not the protocol is refused before any program runs", () =>
    Effect.gen(function* () {
      yield* Rest.repository("refusals", { "a.json": "1\n" })
      const status = (method: string, path: string, headers: Record<string, string> = {}) =>
        Effect.flatMap(HostServer, ({ token, url }) =>
          Effect.promise(() =>
            fetch(url + path, {
              method,
              headers: { authorization: `Bearer ${token}`, connection: "close", ...headers }
            }).then((answer) => answer.status)
          )
        )
      assert.strictEqual(yield* status("GET", "/local/refusals.git/info/refs"), 403)
      assert.strictEqual(
        yield* status("GET", "/local/refusals.git/info/refs?service=git-upload-archive"),
        403
      )
      assert.strictEqual(yield* status("GET", "/local/refusals.git/info/refs?service=--upload-pack=x"), 403)
      assert.strictEqual(yield* status("POST", "/local/refusals.git/git-upload-pack"), 415)
      assert.strictEqual(yield* status("GET", "/local/none.git/info/refs?service=git-upload-pack"), 404)
      const hostile = "/local/..%2f..%2frefusals.git/info/refs?service=git-upload-pack"
      assert.strictEqual(yield* status("GET", hostile), 404)
      const packed = { "content-type": "application/x-git-upload-pack-request", "content-encoding": "gzip" }
      const garbage = yield* Effect.flatMap(HostServer, ({ token, url }) =>
        Effect.promise(() =>
          fetch(`${url}/local/refusals.git/git-upload-pack`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, connection: "close", ...packed },
            body: "no gzip at all"
          }).then(
            (answer) =>
              answer.text().then(
                () => "ended",
                () => "cut off"
              ),
            () => "cut off"
          )
        )
      )
      assert.include(["ended", "cut off"], garbage)
      const { directory } = yield* HostServer
      assert.isTrue(yield* until(() => running(directory) === 0))
    })
  )
})
