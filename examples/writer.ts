/**
 * A writer: many small writes of many fibers, in few commits.
 *
 * Output:
 * 120 readings in 3 commits
 * after a flush, 0 are pending
 */
import { Memory, Store } from "chainstore/store"
import { Effect, Layer } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store

  const { commits, result } = yield* store.writer({ maxOperations: 50, maxSeconds: 5 }, (writer) =>
    Effect.gen(function* () {
      yield* Effect.forEach(
        Array.from({ length: 120 }, (_, at) => at),
        (at) => writer.put("readings", `r${at}`, { at, celsius: 20 + (at % 5) }),
        { concurrency: 8, discard: true }
      )
      yield* writer.flush
      return yield* writer.pending
    })
  )
  console.log(`${yield* store.collection("readings").count} readings in ${commits.length} commits`)
  console.log(`after a flush, ${result} are pending`)
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))
