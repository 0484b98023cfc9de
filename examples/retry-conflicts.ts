/**
 * Several programs change one document with optimistic concurrency: each reads it and writes with the expected revision.
 * A schedule retries conflicts. An interrupted write leaves the old commit or the new one.
 *
 * Output:
 * 8 seats are taken by 8 people
 * full: no seat for a ninth
 * interrupted, and the show still has revision 9
 */
import { Memory, Store } from "chainstore/store"
import { Console, Data, Effect, Either, Fiber, Layer, Option, Schedule, Schema } from "effect"

const Show = Schema.Struct({ seats: Schema.Number, taken: Schema.Array(Schema.String) })

class SoldOut extends Data.TaggedError("SoldOut") {}

/** Reads the show, and books only if it is still as it was read. */
const book = (person: string) =>
  Effect.gen(function* () {
    const shows = (yield* Store).collection("shows", Show)
    const show = Option.getOrThrow(yield* shows.get("hamlet"))
    if (show.taken.length === show.seats) return yield* new SoldOut()
    const taken = [...show.taken, person]
    yield* shows.update("hamlet", { taken }, { expectedRev: show._rev })
  }).pipe(
    Effect.retry({
      schedule: Schedule.jittered(Schedule.spaced("2 millis")),
      while: (error) => error._tag === "ConflictError"
    })
  )

const program = Effect.gen(function* () {
  const shows = (yield* Store).collection("shows", Show)
  yield* shows.insert({ seats: 8, taken: [] }, { id: "hamlet" })
  const people = Array.from({ length: 8 }, (_, n) => `person ${n}`)
  yield* Effect.forEach(people, book, { concurrency: "unbounded", discard: true })
  const { taken } = Option.getOrThrow(yield* shows.get("hamlet"))
  yield* Console.log(`${taken.length} seats are taken by ${new Set(taken).size} people`)

  const ninth = yield* Effect.either(book("person 9"))
  if (Either.isLeft(ninth) && ninth.left._tag === "SoldOut") yield* Console.log("full: no seat for a ninth")

  const waiting = yield* Effect.fork(
    Store.withTransaction(Effect.zipRight(shows.update("hamlet", { seats: 9 }), Effect.never))
  )
  yield* Effect.sleep("20 millis")
  yield* Fiber.interrupt(waiting)
  const { _rev } = Option.getOrThrow(yield* shows.get("hamlet"))
  yield* Console.log(`interrupted, and the show still has revision ${_rev}`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))
