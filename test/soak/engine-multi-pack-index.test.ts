import { spawn } from "node:child_process"
import { once } from "node:events"
import * as fs from "node:fs"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as Engine from "../../src/git/disk/Engine.js"
import type { Change } from "../../src/store/remote/GitRemote.js"
import { assertSound, git, put, temporary, write } from "../git/disk/support/temporary.js"

/** What `git maintenance start` does every day, in a row. */
const housekeeping = [
  ["multi-pack-index", "write"],
  ["multi-pack-index", "expire"],
  ["multi-pack-index", "repack", "--batch-size=0"],
  ["maintenance", "run", "--task=incremental-repack"]
]

/*
 * The old packs and the new one may be of the same second here, so that Git could take either copy of an object for its multi-pack
 * index, and delete the other one.
 */
it.scopedLive("two engines that repack lose nothing beside Git's multi-pack index", () =>
  Effect.gen(function* () {
    const directory = `${yield* temporary}/indexed.git`
    const maintenance = { packs: 5, looseObjects: 20, quiet: 1 }
    const engines = yield* Effect.all([
      Engine.open({ directory, create: true, maintenance }),
      Engine.open({ directory, create: true, maintenance })
    ])
    const over = yield* Deferred.make<void>()
    let runs = 0
    const byGit = Effect.promise(async () => {
      const args = housekeeping[runs++ % housekeeping.length]!
      await once(spawn("git", ["-C", directory, ...args], { stdio: "ignore" }), "exit")
    })
    const repeated = yield* Effect.fork(
      Effect.repeat(Effect.delay(byGit, 20), { until: () => Deferred.isDone(over) })
    )
    const paths = yield* Effect.forEach(
      engines,
      (repository, engine) =>
        Effect.forEach(
          Array.from({ length: 300 }, (_, n) => n),
          (n) =>
            Effect.gen(function* () {
              const path = `${engine}/${n}`
              const content = Buffer.from(`contents of ${path}`)
              const oid = n % 3 === 0 ? undefined : yield* repository.writeObject("blob", content)
              yield* Effect.sleep(oid === undefined ? 0 : (n * 37) % 120)
              const change: Change = oid === undefined ? put(path, content) : { _tag: "Link", path, oid }
              yield* Effect.retry(write(repository, [change]), {
                while: (error) => error._tag === "RefMoved"
              })
              // It fails while Git does not find the objects.
              if (n % 10 === 0) yield* Effect.exit(repository.maintain)
              return path
            })
        ),
      { concurrency: "unbounded" }
    )
    yield* Deferred.succeed(over, undefined)
    yield* Fiber.join(repeated)
    fs.rmSync(`${directory}/objects/pack/multi-pack-index`, { force: true })
    for (const path of paths.flat())
      assert.strictEqual(git(directory, "show", `main:${path}`), `contents of ${path}`)
    assertSound(directory)
  })
)
