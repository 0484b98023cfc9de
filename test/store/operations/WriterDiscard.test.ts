import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { rounds, storePair } from "./StorePair.js"

it.scopedLive(
  "discard beside a flush loses nothing that is queued later",
  () =>
    Effect.gen(function* () {
      const lost: Array<string> = []
      for (let ops = 12; ops < 150; ops += Math.round(70 / rounds(70))) {
        yield* Effect.gen(function* () {
          let moved = false
          const { store } = yield* storePair(
            {},
            {
              onWrite: (_operation, point) =>
                Effect.sync(() => {
                  if (point === "moved") moved = true
                })
            }
          )
          for (let round = 0; round < 3; round++) {
            const { result } = yield* store.writer({}, (w) =>
              Effect.gen(function* () {
                moved = false
                yield* w.put("c", `a${round}`, { n: 1 })
                const flushing = yield* Effect.fork(w.flush)
                while ((yield* Effect.sync(() => flushing.unsafePoll())) === null) {
                  yield* Effect.yieldNow()
                  if (moved && (yield* w.discard) > 0) {
                    yield* w.put("c", `b${round}`, { n: 2 })
                    yield* Fiber.join(flushing)
                    return true
                  }
                }
                return false
              })
            )
            const c = store.collection("c")
            const a = yield* c.get(`a${round}`)
            if (result && Option.isSome(a) && Option.isNone(yield* c.get(`b${round}`)))
              lost.push(`ops ${ops}: b${round}`)
          }
        }).pipe(Effect.scoped, Effect.withMaxOpsBeforeYield(ops))
      }
      assert.deepStrictEqual(lost, [])
    }),
  60_000
)
