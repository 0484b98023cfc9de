import { execFileSync, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, LogLevel, Option, Random } from "effect"
import * as Store from "../../../../src/store/Store.js"
import type { StoreService } from "../../../../src/store/StoreService.js"
import { bundled } from "../../../support/bundled.js"
import { HostServer, layer as host } from "../../../support/host/HostServer.js"
import * as Reached from "./RepositoryAccess.js"

const source = new URL("./transacting.ts", import.meta.url)

const git = (repository: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-C", repository, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

/** A process that runs transactions; killed at the end of the scope. */
const transacting = (reached: Reached.RepositoryAccess, name: string) =>
  Effect.gen(function* () {
    const acknowledged: Array<string> = []
    const ready = yield* Deferred.make<void>()
    const first = yield* Deferred.make<void>()
    const ended = yield* Deferred.make<{ readonly signal: string | null; readonly err: string }>()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [bundled(source), JSON.stringify(reached), name], {
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (running) => Effect.sync(() => running.kill("SIGKILL"))
    )
    let [rest, err] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        if (line === "ready") Deferred.unsafeDone(ready, Effect.void)
        else {
          acknowledged.push(line.slice("ack ".length))
          Deferred.unsafeDone(first, Effect.void)
        }
      }
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text
    })
    child.once("close", (_code, signal) => Deferred.unsafeDone(ended, Effect.succeed({ signal, err })))
    return {
      acknowledged,
      ready: Effect.raceFirst(Deferred.await(ready), Deferred.await(ended)),
      /** After the first transaction that it acknowledged. */
      first: Effect.raceFirst(Deferred.await(first), Deferred.await(ended)),
      kill: Effect.zipRight(
        Effect.sync(() => child.kill("SIGKILL")),
        Deferred.await(ended)
      )
    }
  })

/** The transactions that the branch shows; each of them whole, or it is an error. */
const whole = (store: StoreService) =>
  Effect.gen(function* () {
    const parts = new Map<string, number>()
    for (const id of yield* store.collection("parts").list()) {
      const key = id.slice(0, -2)
      parts.set(key, (parts.get(key) ?? 0) + 1)
    }
    for (const [key, count] of parts) assert.strictEqual(count, 3, `${key} is visible in part`)
    return parts
  })

/** What every kill must leave true; looked at through a store that was opened after it. */
const examine = (repository: string, acknowledged: ReadonlySet<string>, round: number) =>
  Effect.gen(function* () {
    const store = yield* Store.Store
    assert.strictEqual(git(repository, "fsck", "--strict", "--full", "--no-dangling").trim(), "")
    const parts = yield* whole(store)
    for (const key of acknowledged) assert.isTrue(parts.has(key), `${key} was acknowledged and is lost`)
    const counted = [...parts.keys()].filter((key) => /a\d+$/.test(key)).length
    const counter = Option.getOrThrow(yield* store.collection("counters").get("done"))
    assert.strictEqual(counter["value"], counted, "the counter and the transactions that raised it")

    const branches = git(repository, "for-each-ref", "--format=%(refname:short)", "refs/heads/")
      .trim()
      .split("\n")
      .filter((branch) => branch !== "main")
    const stale = yield* store.staleTransactions
    assert.sameMembers(
      stale.map(({ branch }) => branch),
      branches
    )
    for (const { branch, startedAt } of stale) {
      assert.isBelow(Math.abs(Date.now() - startedAt.getTime()), 600_000)
      yield* store.removeTransaction(branch)
    }
    assert.deepStrictEqual(yield* store.staleTransactions, [])
    assert.strictEqual(git(repository, "for-each-ref", "--format=%(refname:short)").trim(), "main")

    const key = `after${round}`
    yield* store.transaction({}, (tx) =>
      Effect.forEach([1, 2, 3], (part) => tx.collection("parts").insert({ key }, { id: `${key}-${part}` }))
    )
    assert.strictEqual((yield* whole(store)).get(key), 3)
    return branches.length
  })

const quiet = Logger.minimumLogLevel(LogLevel.Warning)

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-killed-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

/** Kills a process so many times at random moments of its transactions in a bare repository of this machine. */
export const killTransactions = (kills: number) =>
  Effect.flatMap(temporary, (directory) =>
    killTransactionsIn(kills, { directory }, join(directory, `${Reached.repository}.git`))
  )

/** The same through GitHub's API on our own host. */
export const killTransactionsOnHost = (kills: number, { graphql = false } = {}) =>
  Effect.gen(function* () {
    const { api: apiUrl, directory, token } = yield* HostServer
    const repository = join(directory, "repos", `${Reached.repository}.git`)
    return yield* killTransactionsIn(kills, { apiUrl, token, graphql }, repository)
  }).pipe(Effect.provide(Layer.provide(host({ createOnFirstUse: true }), quiet)))

/** The same in a repository that is reached so, and lies there. */
const killTransactionsIn = (kills: number, reached: Reached.RepositoryAccess, repository: string) =>
  Effect.gen(function* () {
    const layer = Reached.layer(reached)
    const acknowledged = new Set<string>()
    yield* Effect.provide(
      Effect.flatMap(Store.Store, (store) =>
        store.collection("counters").insert({ value: 0 }, { id: "done" })
      ),
      layer
    )
    let [left, looks] = [0, 0]
    for (let round = 0; round < kills; round++) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const running = yield* transacting(reached, `r${round}`)
          const watching = yield* Effect.forkScoped(
            Effect.provide(
              Effect.flatMap(Store.Store, (store) =>
                Effect.forever(
                  Effect.zipRight(
                    whole(store),
                    Effect.zipRight(
                      Effect.sync(() => looks++),
                      Effect.sleep(3)
                    )
                  )
                )
              ),
              layer
            )
          )
          yield* round % 2 === 0 ? running.first : running.ready
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 500))
          const { err, signal } = yield* running.kill
          assert.deepStrictEqual([signal, err], ["SIGKILL", ""])
          yield* Fiber.interrupt(watching)
          for (const key of running.acknowledged) acknowledged.add(key)
        })
      )
      left += yield* Effect.provide(examine(repository, acknowledged, round), layer)
    }
    return { acknowledged: acknowledged.size, left, looks }
  })
