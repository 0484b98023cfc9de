import { assert, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope } from "effect"
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
