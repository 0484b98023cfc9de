import { spawn, spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import * as fs from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import * as Engine from "../../../src/git/disk/Engine.js"
import type { GitRepository } from "../../../src/git/disk/port/GitRepository.js"
import { daysLater } from "./support/gitOnPath.js"
import { leaveLock } from "./support/leases.js"
import { refusal, withReplaced } from "./support/replacedMethod.js"
import { assertSound, engine, put, temporary, write } from "./support/temporary.js"

const packsOf = (directory: string) =>
  fs.readdirSync(`${directory}/objects/pack`).filter((name) => name.endsWith(".pack"))
const commits = (repository: GitRepository, count: number) =>
  Effect.forEach(numbers(count), (n) => write(repository, [put(`d${n}`, `${n}`)]), { discard: true })
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

it.scopedLive("the lock of a dead process is removed, even if the directory of packs is missing", () =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/r.git`
    const lock = "refs/heads/deep/main.lock"
    yield* Effect.scoped(
      Effect.map(Engine.open({ directory, create: true }), () => {
        fs.mkdirSync(`${directory}/refs/heads/deep`)
        leaveLock(directory, lock)
      })
    )
    fs.rmdirSync(`${directory}/objects/pack`)
    const repository = yield* Engine.open({ directory, timeout: 300 })
    assert.isFalse(fs.existsSync(`${directory}/${lock}`))
    yield* write(repository, [put("a", "1")], { branch: "deep/main" })
    assertSound(directory)
  })
)

it.scopedLive("maintenance continues where a process was killed", () =>
  Effect.gen(function* () {
    const repository = yield* engine({ maintenance: false, durability: "none" })
    const { directory } = repository
    for (let n = 0; n < 5; n++) yield* write(repository, [put("a", `${n}`)])
    const dead = leaveLock(directory, "chainstore/maintenance.lock")
    yield* repository.maintain
    assert.strictEqual(packsOf(directory).length, 1)
    assert.isFalse(fs.existsSync(dead))
    assert.isFalse(fs.existsSync(`${directory}/chainstore/maintenance.lock`))
  })
)

describe.skipIf(spawnSync("flock", ["--version"]).error !== undefined || !fs.existsSync("/proc/self/ns/pid"))(
  "writes while one of eight other containers maintains the repository",
  () => {
    it.scopedLive(
      "begin no search for dead engines each",
      () =>
        Effect.gen(function* () {
          const { directory } = yield* engine({ maintenance: false })
          const repository = yield* Engine.open({
            directory,
            maintenance: { packs: 1, quiet: 1 },
            durability: "none"
          })
          const home = `${directory}/chainstore`
          const [own = ""] = fs.readdirSync(home).filter((name) => name.includes("~"))
          const locks = fs.readdirSync(`${home}/${own}`).filter((name) => /^(process|children)-/.test(name))
          const [machine = "", boot, pid, start] = own.split("~")
          for (const n of numbers(8)) {
            const lease = `${home}/${[machine.replace(/\d+(\D*)$/, `402653990${n}$1`), boot, pid, start, randomUUID()].join("~")}`
            fs.mkdirSync(lease)
            for (const name of locks) {
              fs.writeFileSync(`${lease}/${name}`, "")
              yield* Effect.acquireRelease(
                Effect.sync(() =>
                  spawn("flock", ["-x", `${lease}/${name}`, "cat"], { stdio: ["pipe", "ignore", "ignore"] })
                ),
                (held) => Effect.sync(() => held.stdin!.end())
              )
            }
            if (n > 0) continue
            fs.writeFileSync(`${lease}/maintenance-0`, "")
            fs.linkSync(`${lease}/maintenance-0`, `${home}/maintenance.lock`)
          }
          for (const n of numbers(20)) yield* write(repository, [put("a", `${n}`)])
          yield* Effect.sleep(300)

          // Each question whether an engine of another container lives starts this program.
          const bin = yield* temporary
          const flock = spawnSync("sh", ["-c", "command -v flock"], { encoding: "utf8" }).stdout.trim()
          fs.writeFileSync(`${bin}/flock`, `#!/bin/sh\necho asked >>${bin}/asked\nexec ${flock} "$@"\n`, {
            mode: 0o755
          })
          fs.writeFileSync(`${bin}/asked`, "")
          const before = process.env["PATH"]
          const setPath = (to: string | undefined) =>
            Effect.sync(() => {
              process.env["PATH"] = to
            })
          const writes = Effect.forEach(numbers(60), (n) =>
            Effect.zipRight(write(repository, [put("a", `again ${n}`)]), Effect.sleep(30))
          )
          yield* Effect.acquireUseRelease(
            setPath(`${bin}:${before}`),
            () => writes,
            () => setPath(before)
          )
          const asked = fs.readFileSync(`${bin}/asked`, "utf8").split("\n").length - 1
          assert.isAbove(asked, 0)
          assert.isBelow(asked, 8 * 30)
        }),
      60_000
    )
  }
)

describe("the lock of a maintenance that could not be removed", () => {
  it.scopedLive("does not stop every later maintenance after the engine was closed", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      const open = Engine.open({ directory, maintenance: false })
      const unlinkSync = (real: typeof fs.unlinkSync) => (file: string) => {
        if (file.endsWith("/maintenance.lock")) throw refusal("EIO")
        real(file)
      }
      yield* withReplaced({ unlinkSync }, Effect.scoped(Effect.flatMap(open, ({ maintain }) => maintain)))
      const repository = yield* open
      yield* commits(repository, 10)
      yield* repository.maintain
      assert.isAtMost(packsOf(directory).length, 5)
    })
  )
})

describe("a maintenance that the last write of an engine makes due while the engine closes", () => {
  it.scopedLive("does not outlive the engine", () =>
    Effect.gen(function* () {
      const other = yield* engine({ maintenance: false })
      const { directory } = other
      yield* commits(other, 10)
      const home = `${directory}/chainstore`
      const before = fs.readdirSync(home)
      const scope = yield* Scope.make()
      const [building, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const maintenance = { packs: 1, quiet: 0 }
      const repository = yield* Scope.extend(Engine.open({ directory, maintenance }), scope)
      const written = yield* Effect.fork(
        repository.commitNext("main", () =>
          Deferred.succeed(building, undefined).pipe(
            Effect.zipRight(Deferred.await(go)),
            Effect.as({
              commit: Option.some({ message: "the last", changes: [put("a", "1")] }),
              result: undefined
            })
          )
        )
      )
      yield* Deferred.await(building)
      const closed = yield* Effect.fork(Scope.close(scope, Exit.void))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(closed)
      assert.deepStrictEqual(fs.readdirSync(home), before)
      yield* Fiber.join(written)
    })
  )
})

describe("the lock of a maintenance in a repository that was copied while it ran", () => {
  it.scopedLive("does not stop every later maintenance of the copy", () =>
    Effect.gen(function* () {
      const { directory } = yield* engine({ maintenance: false })
      yield* Effect.scoped(
        Effect.flatMap(Engine.open({ directory, maintenance: false }), (repository) =>
          commits(repository, 10)
        )
      )
      // A copy has no hard links, and the directory of the engine may not be a part of it.
      fs.writeFileSync(`${directory}/chainstore/maintenance.lock`, "")
      const repository = yield* Engine.open({ directory, maintenance: false })
      yield* repository.maintain
      assert.strictEqual(packsOf(directory).length, 10, "the lock is not a day old")
      yield* daysLater(repository.maintain)
      assert.isAtMost(packsOf(directory).length, 5)
    })
  )
})
