import { assert, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { connect, hosted, local } from "../core/Remotes.js"

const places = [["LocalGit", local, 40] as const, ...hosted.map((place) => [...place, 10] as const)]

it.scopedLive.each(places)(
  "a batch with an interrupted commit is not committed twice, on %s",
  ([, layer, rounds]) =>
    Effect.gen(function* () {
      const remote = yield* connect(layer)
      const store = yield* Effect.provideService(Store.make({}), GitRemote, remote)
      const bad: Array<string> = []
      for (let n = 0; n < rounds; n++) {
        const exit = yield* Effect.exit(
          store.batch({}, (batch) =>
            Effect.gen(function* () {
              yield* batch.put("c", `put${n}`, { n })
              yield* batch.insert("c", { n }, { id: `insert${n}` })
              // The commit goes on: an interrupted write happened as a whole or not at all.
              const fiber = yield* Effect.fork(batch.commit)
              yield* Effect.sleep((10 * n) / rounds)
              yield* Fiber.interrupt(fiber)
            })
          )
        )
        if (Exit.isFailure(exit)) {
          bad.push(`${n}: ${String(exit.cause).split("\n")[0]}`)
          continue
        }
        const rev = Option.getOrThrow(yield* store.collection("c").get(`put${n}`))._rev
        if (rev !== 1) bad.push(`${n}: _rev ${rev}`)
      }
      assert.deepStrictEqual(bad, [])
    }),
  60_000
)
