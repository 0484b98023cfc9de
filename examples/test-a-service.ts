/**
 * A model-based test of a service over `Store`: random calls on a repository in memory, the same calls on a Map, with the
 * test clock.
 *
 * Output:
 * 20 random programs agree with the model
 * a reservation ends after 10 minutes
 */
import { Memory, Store } from "chainstore/store"
import { Clock, Console, Effect, FastCheck, Layer, Option, TestClock, TestContext } from "effect"

const minutes = 10

/** Seats that are reserved for ten minutes. */
class Seats extends Effect.Service<Seats>()("Seats", {
  effect: Effect.map(Store, (store) => {
    const seats = store.collection("seats")
    return {
      reserve: (seat: string, by: string) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const current = yield* seats.get(seat)
          if (Option.isSome(current) && Number(current.value["until"]) > now) return false
          const expectedRev = Option.getOrUndefined(current)?._rev
          yield* seats.upsert(seat, { by, until: now + minutes * 60_000 }, { expectedRev })
          return true
        })
    }
  })
}) {}

/** Each test has a repository of its own. */
const layer = Effect.sync(() => Layer.provide(Seats.Default, Layer.provide(Store.layer(), Memory.layer())))

const call = FastCheck.record({
  seat: FastCheck.constantFrom("a", "b"),
  by: FastCheck.constantFrom("Ada", "Bob"),
  wait: FastCheck.constantFrom(0, 4, 11)
})

const agrees = (calls: ReadonlyArray<{ seat: string; by: string; wait: number }>) =>
  Effect.gen(function* () {
    const seats = yield* Seats
    const model = new Map<string, number>()
    let now = 0
    for (const { by, seat, wait } of calls) {
      yield* TestClock.adjust(`${wait} minutes`)
      now += wait
      const expected = (model.get(seat) ?? 0) <= now
      if (expected) model.set(seat, now + minutes)
      if ((yield* seats.reserve(seat, by)) !== expected) return false
    }
    return true
  })

const run = <A, E>(effect: Effect.Effect<A, E, Seats>) =>
  Effect.runPromise(
    Effect.flatMap(layer, (seats) => Effect.provide(effect, Layer.merge(seats, TestContext.TestContext)))
  )

await FastCheck.assert(
  FastCheck.asyncProperty(FastCheck.array(call, { maxLength: 6 }), (calls) => run(agrees(calls))),
  { numRuns: 20, seed: 1 }
)
await Effect.runPromise(Console.log("20 random programs agree with the model"))

await run(
  Effect.gen(function* () {
    const seats = yield* Seats
    yield* seats.reserve("a", "Ada")
    const early = yield* seats.reserve("a", "Bob")
    yield* TestClock.adjust("10 minutes")
    const late = yield* seats.reserve("a", "Bob")
    if (!early && late) yield* Console.log("a reservation ends after 10 minutes")
  })
)
