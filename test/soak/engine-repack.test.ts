import { spawn } from "node:child_process"
import { once } from "node:events"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Engine from "../../src/git/disk/Engine.js"
import { assertSound, git, temporary, write } from "../git/disk/support/temporary.js"

/** Each writer stages contents as loose objects, and commits them a moment later. */
it.scopedLive("two engines that stage, link and repack lose nothing beside `git repack -a -d`", () =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/repacked.git`
    const maintenance = { packs: 5, looseObjects: 20, quiet: 1 }
    const engines = yield* Effect.all([
      Engine.open({ directory, create: true, maintenance }),
      Engine.open({ directory, create: true, maintenance })
    ])
    const over = yield* Deferred.make<void>()
    const repackByGit = Effect.promise(async () => {
      const child = spawn("git", ["-C", directory, "repack", "-a", "-d", "-q"], { stdio: "ignore" })
      await once(child, "exit")
    })
    const housekeeping = yield* Effect.fork(
      Effect.repeat(Effect.delay(repackByGit, 50), { until: () => Deferred.isDone(over) })
    )
    const paths = yield* Effect.forEach(
      engines,
      (repository, engine) =>
        Effect.forEach(
          Array.from({ length: 200 }, (_, n) => n),
          (n) =>
            Effect.gen(function* () {
              const path = `${engine}/${n}`
              const oid = yield* repository.writeObject("blob", Buffer.from(`contents of ${path}`))
              yield* Effect.sleep((n * 37) % 120)
              yield* Effect.retry(write(repository, [{ _tag: "Link", path, oid }]), {
                while: (error) => error._tag === "RefMoved"
              })
              if (n % 10 === 0) yield* repository.maintain
              return path
            })
        ),
      { concurrency: "unbounded" }
    )
    yield* Deferred.succeed(over, undefined)
    yield* Fiber.join(housekeeping)
    for (const path of paths.flat())
      assert.strictEqual(git(directory, "show", `main:${path}`), `contents of ${path}`)
    assertSound(directory)
  })
)
