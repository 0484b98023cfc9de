import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scope } from "effect"
import * as Engine from "../../src/git/disk/Engine.js"
import { directory } from "../store/core/Remotes.js"

it.scopedLive(
  "a commit that is staged after its engine has closed fails, and does not hang",
  () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const scope = yield* Scope.make()
      const repository = yield* Scope.extend(
        Engine.open({ directory: at, create: true, durability: "none" }),
        scope
      )
      const write = (wait: number) =>
        repository.commitNext("main", () =>
          Effect.as(Effect.sleep(wait), {
            commit: Option.some({
              message: "m",
              changes: [{ _tag: "Put" as const, path: `p${wait}`, content: new Uint8Array(1) }]
            }),
            result: 1
          })
        )
      yield* write(1)
      const late = yield* Effect.forkDaemon(Effect.either(write(11_500)))
      yield* Effect.sleep(50)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.sleep(3_000)
      assert.isNotNull(late.unsafePoll(), "it hangs")
    }),
  40_000
)

it.scopedLive(
  "writers that wait for the memory of staged commits end when the engine closes before a long push has ended",
  () =>
    Effect.gen(function* () {
      const at = `${yield* directory}/r.git`
      const scope = yield* Scope.make()
      const pushing = yield* Deferred.make<void>()
      const repository = yield* Scope.extend(
        Engine.open({
          directory: at,
          create: true,
          durability: "none",
          publish: (flushes) =>
            Effect.runPromise(
              Deferred.succeed(pushing, undefined).pipe(
                Effect.zipRight(Effect.sleep(13_000)),
                Effect.as(flushes.map(() => ({ _tag: "Done" as const })))
              )
            )
        }),
        scope
      )
      const write = (path: string, size: number) =>
        Effect.forkDaemon(
          Effect.either(
            repository.commitNext("main", () =>
              Effect.succeed({
                commit: Option.some({
                  message: path,
                  changes: [{ _tag: "Put" as const, path, content: new Uint8Array(size) }]
                }),
                result: 1
              })
            )
          )
        )
      const first = yield* write("first", 1)
      yield* Deferred.await(pushing)
      const large = 16 * 1024 * 1024
      const writers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (n) => write(`large-${n}`, large))
      yield* Effect.sleep(500)
      yield* Scope.close(scope, Exit.void)
      yield* Effect.sleep(1_000)
      assert.strictEqual((yield* Fiber.join(first))._tag, "Right")
      for (const writer of writers) {
        assert.isNotNull(writer.unsafePoll(), "it hangs")
        assert.include(String(yield* Fiber.join(writer)), "was closed")
      }
    }),
  40_000
)
