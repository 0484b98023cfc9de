import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import * as Engine from "../../../src/git/disk/Engine.js"
import { MissingInBuild } from "../../../src/git/disk/files/EngineError.js"

const unreachable = new RemoteError({ operation: "push", reason: "Unreachable", message: "503" })

const commit = Option.some({
  message: "first",
  changes: [{ _tag: "Put" as const, path: "a", content: new TextEncoder().encode("1") }]
})

/** The error of an edit that ends while the flush of the commit below it fails. */
const failureOver = <E>(error: E) =>
  Effect.gen(function* () {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), "failed-base-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => fs.rmSync(directory, { recursive: true })))
    const flushing = yield* Deferred.make<void>()
    const refuse = yield* Deferred.make<void>()
    const engine = yield* Engine.open({
      directory,
      create: true,
      maintenance: false,
      publish: (flushes) =>
        Effect.runPromise(
          Effect.zipRight(
            Deferred.succeed(flushing, undefined),
            Effect.as(
              Deferred.await(refuse),
              flushes.map(() => unreachable)
            )
          )
        )
    })
    const base = yield* Effect.fork(
      Effect.exit(engine.commitNext("main", () => Effect.succeed({ commit, result: 1 })))
    )
    yield* Deferred.await(flushing)
    const building = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const edit = yield* Effect.fork(
      Effect.flip(
        engine.commitNext("main", () =>
          Deferred.succeed(building, undefined).pipe(
            Effect.zipRight(Deferred.await(end)),
            Effect.zipRight(Effect.fail(error))
          )
        )
      )
    )
    yield* Deferred.await(building)
    yield* Deferred.succeed(refuse, undefined)
    yield* Fiber.join(base)
    yield* Deferred.succeed(end, undefined)
    return yield* Fiber.join(edit)
  })

describe("an edit over a commit that could not be written", () => {
  it.scopedLive("fails for the reason of that commit if it was refused over it", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* failureOver("taken"), unreachable)
    })
  )

  it.scopedLive("lacks the objects that it lacks on the head of the branch", () =>
    Effect.gen(function* () {
      const missing = new MissingInBuild({ oids: [] })
      assert.strictEqual(yield* failureOver(missing), missing)
    })
  )
})
