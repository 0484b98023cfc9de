import { execFile, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { asking, port, type Serving, serve } from "../support/service/ServiceProcess.js"

const token = "surroundings-test-token-0123456789"
const git = promisify(execFile)
const canMount = spawnSync("unshare", ["--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "surroundings-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** A client of a service, with a clone of its demo repository. */
const clientOf = (serving: Serving) =>
  Effect.gen(function* () {
    const url = `http://127.0.0.1:${yield* port(serving)}`
    const work = yield* directory
    const ask = asking(url, token)
    let names = 0
    const put = (repository = "local/demo") => {
      const name = `file-${names++}.txt`
      const content = Buffer.from(name).toString("base64")
      return ask("PUT", `/repos/${repository}/contents/${name}`, { message: name, content })
    }
    const address = (repository: string) => `${url.replace("//", `//x:${token}@`)}/${repository}.git`
    const run = (...args: ReadonlyArray<string>) =>
      Effect.promise(() =>
        git("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: work }).then(
          ({ stderr, stdout }) => ({ code: 0, out: stdout, said: stderr }),
          ({ code, stderr }) => ({ code, out: "", said: String(stderr) })
        )
      )
    const commit = (name: string, bytes = 10) =>
      Effect.zipRight(
        Effect.sync(() => writeFileSync(join(work, name), Buffer.alloc(bytes, name))),
        Effect.zipRight(run("add", "."), run("commit", "-m", name))
      )
    assert.strictEqual((yield* run("clone", address("local/demo"), ".")).code, 0)
    return { address, ask, commit, put, run, work }
  })

const childrenOf = (pid: number): ReadonlyArray<number> => {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number)
  } catch {
    return []
  }
}
const familyOf = (pid: number): ReadonlyArray<number> =>
  childrenOf(pid).flatMap((child) => [child, ...familyOf(child)])
/** Whether a process takes a push in: it is not the one that lists refs before. */
const isReceiving = (pid: number): boolean => {
  try {
    const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
    return args.includes("receive-pack") && !args.includes("--advertise-refs")
  } catch {
    return false
  }
}
const nameOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim()
  } catch {
    return ""
  }
}

describe.skipIf(process.platform !== "linux")("a push with a killed hook", () => {
  it.scopedLive(
    "is refused, leaves nothing, and holds no later write up",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        const serving = yield* serve({ CHAINSTORE_HOST_TOKEN: token, CHAINSTORE_DATA: data }, [], "host")
        const { commit, put, run } = yield* clientOf(serving)
        const pid = serving.child.pid!
        const repository = join(data, "repos/local/demo.git")
        /** Stops the service while a push is received, so that its hook waits for it; none where that came too late. */
        const waiting = (ended: () => boolean) =>
          Effect.promise(async () => {
            let stopped = false
            while (!ended()) {
              const hook = stopped ? familyOf(pid).find((one) => nameOf(one) === "pre-receive") : undefined
              if (hook !== undefined) return hook
              // Once its own child unpacks, the service has passed everything on.
              const unpacks = (one: number) => isReceiving(one) && childrenOf(one).length > 0
              if (!stopped && childrenOf(pid).some(unpacks)) stopped = process.kill(pid, "SIGSTOP")
              await new Promise((done) => setTimeout(done, 1))
            }
            return undefined
          })
        for (const kill of ["the hook", "its parent"]) {
          let hook: number | undefined
          for (let attempt = 0; hook === undefined; attempt++) {
            yield* commit(`${kill} ${attempt}`, 1_000_000)
            let ended = false
            const push = yield* Effect.fork(
              Effect.ensuring(
                run("push", "origin", `HEAD:refs/heads/topic-${attempt}`),
                Effect.sync(() => {
                  ended = true
                })
              )
            )
            hook = yield* waiting(() => ended)
            if (hook === undefined) continue
            const status = readFileSync(`/proc/${hook}/status`, "utf8")
            const parent = Number(/^PPid:\s*(\d+)$/m.exec(status)![1])
            process.kill(kill === "the hook" ? hook : parent, "SIGKILL")
            process.kill(pid, "SIGCONT")
            const { code, said } = yield* push
            assert.notStrictEqual(code, 0, said)
            assert.strictEqual((yield* put()).status, 201)
            const names = readdirSync(repository, { recursive: true, encoding: "utf8" })
            assert.deepStrictEqual(
              names.filter((name) => /\.lock$|tmp_objdir/.test(name) || name.endsWith(`topic-${attempt}`)),
              []
            )
          }
        }
        const { code, said } = yield* run("push", "origin", "HEAD:refs/heads/topic")
        assert.strictEqual(code, 0, said)
      }),
    60_000
  )
})

describe("a service with unusual first descriptors", () => {
  it.scopedLive.each(["<&- 3<&- 4<&-", "3</ 4>/dev/full"])(
    "takes uploads and pushes with %s",
    (redirections) =>
      Effect.gen(function* () {
        const data = yield* directory
        const environment = { CHAINSTORE_HOST_TOKEN: token, CHAINSTORE_DATA: data }
        const serving = yield* serve(environment, [], "host", { redirections })
        const { commit, put, run } = yield* clientOf(serving)
        assert.strictEqual((yield* put()).status, 201)
        yield* commit("pushed")
        const { code, said } = yield* run("push", "origin", "HEAD:refs/heads/topic")
        assert.strictEqual(code, 0, said)
        assert.strictEqual((yield* run("ls-remote", "--exit-code", "origin", "topic")).code, 0)
      }),
    60_000
  )
})

describe("a push to a repository that is being deleted", () => {
  it.scopedLive(
    "is applied before or refused, and restores nothing",
    () =>
      Effect.gen(function* () {
        const data = yield* directory
        const serving = yield* serve({ CHAINSTORE_HOST_TOKEN: token, CHAINSTORE_DATA: data }, [], "host")
        const { address, ask, commit, run } = yield* clientOf(serving)
        for (let round = 0; round < 6; round++) {
          const make = yield* ask("POST", "/orgs/local/repos", { name: "gone" })
          assert.strictEqual(make.status, 201, make.text)
          yield* commit(`round-${round}`, 300_000)
          const push = yield* Effect.fork(run("push", address("local/gone"), "HEAD:refs/heads/main"))
          yield* Effect.sleep(round * 25)
          const deleted = yield* ask("DELETE", "/repos/local/gone")
          const { code, said } = yield* push
          assert.strictEqual(deleted.status, 204, deleted.text)
          // A push that comes after the deletion makes the repository anew, and one before it is gone with it.
          const repository = join(data, "repos/local/gone.git")
          const left = readdirSync(join(data, "repos/local")).filter((name) => name !== "demo.git")
          assert.deepStrictEqual(left, existsSync(repository) ? ["gone.git"] : [])
          if (!existsSync(repository)) continue
          const refs = yield* run("ls-remote", address("local/gone"), "main")
          assert.strictEqual(refs.code, 0, refs.said)
          assert.strictEqual(refs.out !== "", code === 0, said)
          assert.strictEqual(spawnSync("git", ["-C", repository, "fsck", "--strict"]).status, 0)
          assert.strictEqual((yield* ask("DELETE", "/repos/local/gone")).status, 204)
        }
        assert.strictEqual((yield* ask("POST", "/orgs/local/repos", { name: "gone" })).status, 201)
        assert.strictEqual((yield* run("push", address("local/gone"), "HEAD:refs/heads/main")).code, 0)
        assert.isNull(serving.child.exitCode)
      }),
    60_000
  )
})

describe.skipIf(!canMount)("a temporary directory that cannot be used", () => {
  it.scopedLive.each(["full", "read-only"])(
    "takes no upload down, refuses pushes clearly, and serves both once it can be used: %s",
    (way) =>
      Effect.gen(function* () {
        const data = yield* directory
        const temporary = yield* directory
        const serving = yield* serve(
          { CHAINSTORE_HOST_TOKEN: token, CHAINSTORE_DATA: data, TMPDIR: temporary },
          [],
          "host",
          { tmpfs: { directory: temporary, options: "size=4m" } }
        )
        const url = `http://127.0.0.1:${yield* port(serving)}`
        const ask = asking(url, token)
        const content = Buffer.alloc(3_000_000, "x").toString("base64")
        const put = (name: string, text: string) =>
          ask("PUT", `/repos/local/demo/contents/${name}`, { message: name, content: text })
        assert.strictEqual((yield* put("small", "YQ==")).status, 201)
        const large = yield* put("large", content)
        assert.strictEqual(large.status, 201, large.text)
        const inside = (script: string) =>
          spawnSync("nsenter", ["--mount", `--target=${serving.child.pid}`, "sh", "-c", script])
        inside(
          way === "full"
            ? `head -c 8000000 /dev/zero > ${temporary}/filler`
            : `mount -o remount,ro ${temporary}`
        )
        const refused = yield* ask("GET", "/local/demo.git/info/refs?service=git-receive-pack")
        assert.strictEqual(refused.status, way === "full" ? 507 : 503, refused.text)
        assert.match(refused.text, way === "full" ? /disk .* full/ : /read-only/)
        assert.notInclude(refused.text, temporary)
        assert.strictEqual((yield* put("after", "YQ==")).status, 201)
        assert.strictEqual((yield* put("after-large", content)).status, 201)
        assert.isNull(serving.child.exitCode)
        inside(way === "full" ? `rm ${temporary}/filler` : `mount -o remount,rw ${temporary}`)
        const { commit, run } = yield* clientOf(serving)
        yield* commit("pushed")
        const { code, said } = yield* run("push", "origin", "HEAD:refs/heads/topic")
        assert.strictEqual(code, 0, said)
      }),
    60_000
  )
})
