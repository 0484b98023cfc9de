/**
 * Interrupted writes: by a timeout, by a race, by the end of the program. Each write takes effect completely or not at all,
 * and a writer commits its queued operations before it ends.
 *
 * Output:
 * the batch that timed out wrote nothing: 0 notes
 * the loser of the race is in the history or not, and nothing in between: 1 note
 * an interrupted writer has written what it was given: 4 notes
 */
import { Memory, Store } from "chainstore/store"
import { Deferred, Effect, Fiber, Layer } from "effect"

const program = Effect.gen(function* () {
  const store = yield* Store
  const notes = store.collection("notes")
  const count = Effect.map(notes.count, (found) => `${found} ${found === 1 ? "note" : "notes"}`)

  yield* store
    .batch({ message: "never" }, (batch) =>
      Effect.zipRight(batch.put("notes", "a", { text: "first" }), Effect.never)
    )
    .pipe(Effect.timeoutOption("20 millis"))
  console.log(`the batch that timed out wrote nothing: ${yield* count}`)

  const insert = (id: string) => notes.insert({ text: id }, { id: "one" })
  yield* Effect.race(insert("left"), insert("right"))
  console.log(`the loser of the race is in the history or not, and nothing in between: ${yield* count}`)

  const given = yield* Deferred.make<void>()
  const writing = yield* Effect.fork(
    store.writer({}, (writer) =>
      Effect.forEach(["b", "c", "d"], (id) => writer.put("notes", id, { text: id })).pipe(
        Effect.zipRight(Deferred.succeed(given, undefined)),
        Effect.zipRight(Effect.never)
      )
    )
  )
  yield* Deferred.await(given)
  yield* Fiber.interrupt(writing)
  console.log(`an interrupted writer has written what it was given: ${yield* count}`)
})

await Effect.runPromise(Effect.provide(program, Layer.provide(Store.layer(), Memory.layer())))
