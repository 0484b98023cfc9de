import { execFile, execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import * as RawHttp from "../../support/host/RawHttp.js"
import * as Rest from "../../support/host/Rest.js"

/** The running processes whose command line contains a directory. */
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
    for (let attempt = 0; attempt < 500; attempt++) {
      if (condition()) return true
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return false
  })

layer(host(), { timeout: 60_000 })("git over http", (it) => {
  it.effect("a child ends when its client leaves in the middle", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      const made = yield* Rest.repository("leaver", { big: randomBytes(24 * 1024 * 1024) })
      const socket = yield* RawHttp.unreadClone("leaver", made!.commit)
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

  it.effect("what a push of a killed host left is removed when its repository is opened", () =>
    Effect.gen(function* () {
      const { directory } = yield* HostServer
      yield* Rest.repository("alive", { "a.json": "1\n" })
      const [alive = ""] = readdirSync(`${directory}/repos/local/alive.git/chainstore`)
      const [machine, boot, , ...rest] = alive.split("~")
      const repository = `${directory}/repos/local/killed.git`
      execFileSync("git", ["init", "-q", "--bare", repository])
      const left = `${repository}/objects/tmp_objdir-incoming-Killed`
      mkdirSync(`${left}/pack`, { recursive: true })
      writeFileSync(`${left}/pack/tmp_pack_Killed`, "PACK")
      // Git processes were running for that host when it was killed.
      const dead = `${repository}/chainstore/${[machine, boot, "dead", ...rest].join("~")}`
      mkdirSync(dead, { recursive: true })
      writeFileSync(`${dead}/work-0`, "")
      utimesSync(`${dead}/work-0`, 0, 0)
      assert.strictEqual((yield* Rest.get("/repos/local/killed")).status, 200)
      assert.isFalse(existsSync(left))
    })
  )

  /** A clone with one commit that was not pushed, and the directory in which pushes are quarantined. */
  const withCommit = (name: string) =>
    Effect.gen(function* () {
      const { directory, repositories, token, url } = yield* HostServer
      yield* Rest.repository(name, { "a.json": "1\n" })
      const remote = `${url.replace("//", `//x:${token}@`)}/local/${name}.git`
      const work = `${directory}/${name}`
      const arguments_ = ["-c", "user.name=a", "-c", "user.email=a@x", "-C"]
      const git = (...args: ReadonlyArray<string>) =>
        Effect.promise(() => promisify(execFile)("git", [...arguments_, directory, ...args]))
      yield* git("clone", "-q", remote, work)
      yield* git("-C", work, "commit", "-q", "--allow-empty", "-m", "pushed")
      const all = { id: "t", login: "t", grants: [{ repository: "*", access: "write" as const }] }
      const hosted = yield* repositories.openForRead(all, "local", name)
      const kept = () =>
        readdirSync(`${hosted.git.directory}/objects`).filter((entry) => entry.includes("incoming"))
      const push = ["-C", work, "push", "-q", remote, "HEAD:refs/heads/pushed"]
      return {
        hosted,
        git,
        kept,
        push,
        spawned: () => spawn("git", [...arguments_, directory, ...push], { detached: true })
      }
    })

  it.effect("a push is unpacked before the writers wait for it", () =>
    Effect.gen(function* () {
      const { git, hosted, kept, push } = yield* withCommit("unpacked")
      const pushed = yield* hosted.git.withExclusiveAccess(
        Effect.gen(function* () {
          const pushing = yield* Effect.fork(git(...push))
          assert.isTrue(yield* until(() => kept().length > 0))
          assert.isTrue(Option.isNone(yield* hosted.git.ref("refs/heads/pushed")))
          return pushing
        })
      )
      const { stderr } = yield* Fiber.join(pushed)
      assert.strictEqual(stderr, "")
      assert.isTrue(Option.isSome(yield* hosted.git.ref("refs/heads/pushed")))
      assert.deepStrictEqual(kept(), [])
    }).pipe(Effect.scoped)
  )

  it.effect("the hook of a killed push ends with its client, and nothing is left", () =>
    Effect.gen(function* () {
      const { hosted, kept, spawned } = yield* withCommit("hooked")
      const place = realpathSync(hosted.git.directory)
      const hooks = () =>
        readdirSync("/proc").filter((pid) => {
          try {
            return (
              readFileSync(`/proc/${pid}/comm`, "utf8") === "pre-receive\n" &&
              readlinkSync(`/proc/${pid}/cwd`).startsWith(place)
            )
          } catch {
            return false
          }
        })
      yield* hosted.git.withExclusiveAccess(
        Effect.gen(function* () {
          const client = spawned()
          assert.isTrue(yield* until(() => hooks().length > 0))
          const status = readFileSync(`/proc/${hooks()[0]}/status`, "utf8")
          process.kill(Number(/^PPid:\s*(\d+)$/m.exec(status)![1]), "SIGKILL")
          process.kill(-client.pid!, "SIGKILL")
          assert.isTrue(yield* until(() => hooks().length === 0))
          assert.isTrue(yield* until(() => kept().length === 0))
        })
      )
      assert.isTrue(Option.isNone(yield* hosted.git.ref("refs/heads/pushed")))
    }).pipe(Effect.scoped)
  )

  it.effect("a request without a valid token gets a challenge", () =>
    Effect.gen(function* () {
      const { url } = yield* HostServer
      yield* Rest.repository("secret", { "a.json": "1\n" }, { private: true })
      const asked = (headers: Record<string, string>) =>
        Effect.promise(async () => {
          const answer = await fetch(`${url}/local/secret.git/info/refs?service=git-upload-pack`, {
            headers: { connection: "close", ...headers }
          })
          await answer.text()
          return [answer.status, answer.headers.get("www-authenticate")]
        })
      const challenged = [401, 'Basic realm="GitHub"']
      assert.deepStrictEqual(yield* asked({}), challenged)
      assert.deepStrictEqual(yield* asked({ authorization: "Bearer wrong" }), challenged)
      assert.deepStrictEqual(yield* asked({ authorization: `Basic ${btoa("x:wrong")}` }), challenged)
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
      const fetched = (body: string, headers: Record<string, string> = {}) =>
        Effect.flatMap(HostServer, ({ token, url }) =>
          Effect.promise(async () => {
            const answer = await fetch(`${url}/local/refusals.git/git-upload-pack`, {
              method: "POST",
              headers: {
                authorization: `Bearer ${token}`,
                connection: "close",
                "content-type": "application/x-git-upload-pack-request",
                ...headers
              },
              body
            })
            return [answer.status, await answer.text()] as const
          })
        )
      assert.strictEqual((yield* fetched("no gzip at all", packed))[0], 400)
      const { packets } = RawHttp
      for (const body of ["garbage", "zzzz", "0014", "0003", `${packets("command=ls-refs\n", 0)}00`]) {
        const [answered, text] = yield* fetched(body, { "git-protocol": "version=2" })
        assert.strictEqual(answered, 400, body)
        assert.match(text, /packet lines/)
      }
      const refused = [
        [packets("command=fetch", 1, "no-such-argument\n", 0), /unexpected line: 'no-such-argument'/],
        [packets("command=destroy\n", 0), /invalid command 'destroy/],
        [packets("command=fetch", 1, `want ${"1".repeat(40)}\n`, "done\n", 0), /not our ref/]
      ] as const
      for (const [body, reason] of refused) {
        const [answered, text] = yield* fetched(body, { "git-protocol": "version=2" })
        assert.strictEqual(answered, 200)
        assert.match(text, /^[0-9a-f]{4}ERR /)
        assert.match(text, reason)
      }
      const { directory } = yield* HostServer
      assert.isTrue(yield* until(() => running(directory) === 0))
    })
  )
})
