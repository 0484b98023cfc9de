import { execFile, execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Json } from "../support/host/Rest.js"
import { port, type Serving, serve } from "../support/service/ServiceProcess.js"

const rounds = 16
const token = "kills-test-token-0123456789"
const branches = ["main", "b1", "b2", "b3"]

/** The processes that a process has started, and those that they have, the youngest first. */
const descendants = (parent: number): ReadonlyArray<number> => {
  const children = new Map<number, Array<number>>()
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
      const owner = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
      children.set(owner, [...(children.get(owner) ?? []), Number(name)])
    } catch {
      // It is gone.
    }
  }
  const found: Array<number> = []
  for (let next = [parent]; next.length > 0; ) {
    next = next.flatMap((pid) => children.get(pid) ?? [])
    found.unshift(...next)
  }
  return found
}

const kill = (pids: ReadonlyArray<number>) => {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL")
    } catch {
      // It is gone.
    }
  }
}

const remains = (repository: string): ReadonlyArray<string> =>
  readdirSync(repository, { recursive: true, encoding: "utf8" }).filter(
    (name) => /\.lock$/.test(name) || name.includes("tmp_objdir-incoming-")
  )

it.scopedLive(
  "kills of the service with its children, and of children alone: every branch can be written at once afterwards",
  () =>
    Effect.gen(function* () {
      const data = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "host-kills-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
      )
      const environment = { CHAINSTORE_DATA: data, CHAINSTORE_HOST_TOKEN: token }
      const start = Effect.gen(function* () {
        const serving = yield* serve(environment, [], "host")
        return { serving, url: `http://127.0.0.1:${yield* port(serving)}` }
      })
      const api = (url: string, method: string, path: string, body?: unknown) =>
        Effect.promise(() =>
          fetch(url + path, {
            method,
            headers: { authorization: `Bearer ${token}`, "user-agent": "test", connection: "close" },
            ...(body === undefined ? {} : { body: JSON.stringify(body) })
          }).then(
            async (answer) => ({ status: answer.status, body: (await answer.json()) as Json }),
            () => undefined
          )
        )
      const write = (url: string, branch: string, round: number) =>
        api(url, "PUT", `/repos/local/killed/contents/after-${round}.txt`, {
          message: `after ${round}`,
          branch,
          content: btoa(`${branch} ${round}`)
        })
      const repository = join(data, "repos/local/killed.git")
      const work = join(data, "work")
      const remote = (url: string) => `${url.replace("//", `//x:${token}@`)}/local/killed.git`

      /** Pushes and clones until the service is gone. */
      const busy = (url: string, serving: Serving, round: number) => {
        // A client whose connection is cut can wait for itself for ever.
        const git = (...args: ReadonlyArray<string>) =>
          new Promise<void>((resolve) => {
            const { pid = 0 } = execFile("git", args, () => resolve())
            // One that is killed in its own repository leaves a lock there.
            if (args.includes("push") || args.includes("clone"))
              void serving.exit.then(() => kill([...descendants(pid), pid]))
          })
        const pushing = async (branch: string) => {
          for (let count = 0; serving.child.exitCode === null && serving.child.signalCode === null; count++) {
            const place = `${work}-${branch}`
            writeFileSync(join(place, `r${round}`), randomBytes(200_000))
            await git("-C", place, "add", ".")
            await git(
              "-C",
              place,
              "-c",
              "user.name=a",
              "-c",
              "user.email=a@x",
              "commit",
              "-qm",
              `${round} ${count}`
            )
            await git(
              "-C",
              place,
              "push",
              "-qf",
              remote(url),
              `HEAD:${branch}`,
              `HEAD:new-${branch}-${round}`
            )
          }
        }
        const cloning = async () => {
          const place = `${work}-clone`
          while (serving.child.exitCode === null && serving.child.signalCode === null) {
            await git("clone", "-q", "--bare", remote(url), place)
            rmSync(place, { recursive: true, force: true })
          }
        }
        return Promise.all([...branches.slice(1).map(pushing), cloning()])
      }

      let running = yield* start
      yield* api(running.url, "POST", "/user/repos", { name: "killed", auto_init: true })
      for (const branch of branches.slice(1)) {
        const head = yield* api(running.url, "GET", "/repos/local/killed/git/ref/heads/main")
        const ref = { ref: `refs/heads/${branch}`, sha: head?.body.object.sha }
        yield* api(running.url, "POST", "/repos/local/killed/git/refs", ref)
        execFileSync("git", ["clone", "-q", repository, `${work}-${branch}`])
      }
      for (let round = 0; round < rounds; round++) {
        const { serving, url } = running
        const pid = serving.child.pid ?? 0
        const working = busy(url, serving, round)
        if (round % 2 === 0) {
          yield* Effect.sleep(300 + Math.random() * 1_500)
          kill([pid, ...descendants(pid)])
        } else {
          for (let times = 0; times < 8; times++) {
            yield* Effect.sleep(Math.random() * 300)
            kill(descendants(pid))
          }
          kill([pid, ...descendants(pid)])
        }
        yield* Effect.promise(() => serving.exit)
        yield* Effect.promise(() => working)
        const left = remains(repository)
        running = yield* start
        const began = performance.now()
        for (const branch of branches) {
          const answer = yield* write(running.url, branch, round)
          assert.strictEqual(answer?.status, 201, `${branch}, with ${left.join(", ")}`)
        }
        const took = performance.now() - began
        console.log(`round ${round}: ${left.length} left, every branch written after ${Math.round(took)} ms`)
        assert.isBelow(took, 5_000)
        assert.deepStrictEqual(
          remains(repository).filter((name) => left.includes(name)),
          []
        )
        for (const branch of branches.slice(1)) {
          execFileSync("git", ["-C", `${work}-${branch}`, "fetch", "-q", repository, branch])
          execFileSync("git", ["-C", `${work}-${branch}`, "reset", "-q", "--hard", "FETCH_HEAD"])
        }
      }
      execFileSync("git", ["-C", repository, "fsck", "--strict"], { stdio: "pipe" })
    }),
  900_000
)
