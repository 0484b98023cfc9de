import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { vi } from "vitest"
import { put, temporary, write } from "./support/temporary.js"

// The engine loaded twice in one process: two worker threads, a bundle and a module, or a reloading development server.
it.scopedLive(
  "two copies of the engine in one process keep out of each other's way",
  () =>
    Effect.gen(function* () {
      const at = `${yield* temporary}/r.git`
      const copy = Effect.promise(async () => {
        vi.resetModules()
        return import("../../../src/git/disk/Engine.js")
      })
      const one = yield* copy
      const two = yield* copy
      assert.notStrictEqual(one, two)
      const a = yield* one.open({ directory: at, create: true, durability: "none" })
      const scope = yield* Scope.make()
      const b = yield* Scope.extend(two.open({ directory: at, durability: "none" }), scope)
      const failures: Array<string> = []
      const many = (repository: typeof a, branch: string) =>
        Effect.forEach(
          Array.from({ length: 100 }, (_, n) => n),
          (n) =>
            Effect.catchAll(write(repository, [put(`f${n}`, `${n}`)], { branch }), (error) =>
              Effect.sync(() => failures.push(`${branch} ${error._tag} ${error.message}`))
            ),
          { concurrency: 3 }
        )
      yield* Effect.all([many(a, "a"), many(b, "b")], { concurrency: 2 })
      yield* Scope.close(scope, Exit.void)
      const after = yield* Effect.either(write(a, [put("after", "")], { branch: "a" }))
      assert.deepStrictEqual(failures, [])
      assert.strictEqual(after._tag, "Right", "the first engine cannot write once the second has closed")
    }),
  60_000
)
