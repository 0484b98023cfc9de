import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { StoreService } from "../../../src/store/StoreService.js"
import { document, storePair } from "./StorePair.js"

/** So many steps of a fiber, and then an effect: a fiber yields after 2048 of its steps, wherever that is. */
const behind = (steps: number, effect: Effect.Effect<unknown, unknown>): Effect.Effect<unknown, unknown> =>
  steps === 0
    ? effect
    : Effect.flatMap(
        Effect.sync(() => steps),
        () => behind(steps - 1, effect)
      )

/** Interrupts a call where its fiber yields for the first time. */
const interruptedAt = (steps: number) => (call: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(behind(steps, call))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(fiber)
  })

type Interrupted = (call: Effect.Effect<unknown, unknown>) => Effect.Effect<void>

const cases: Readonly<
  Record<string, (store: StoreService, interrupted: Interrupted) => Effect.Effect<unknown, unknown>>
> = {
  // OperationPlaces.ts, add: "One that is refused, or whose caller is interrupted, gives its place up."
  "a batch is committed whose `put` was interrupted": (store, interrupted) =>
    store.batch({}, (batch) =>
      Effect.gen(function* () {
        yield* batch.put("notes", "a", { n: 1 })
        yield* interrupted(batch.put("notes", "x", { n: 1 }))
        yield* batch.put("notes", "b", { n: 1 })
      })
    ),
  "a writer ends whose `put` was interrupted": (store, interrupted) =>
    store.writer({}, (writer) =>
      Effect.gen(function* () {
        yield* writer.put("notes", "a", { n: 1 })
        yield* interrupted(writer.put("notes", "x", { n: 1 }))
        yield* writer.put("notes", "b", { n: 1 })
      })
    )
}

describe("an interruption of one call stops no other, whatever step it comes at", () => {
  for (const [name, run] of Object.entries(cases)) {
    it.live(name, () =>
      Effect.gen(function* () {
        // Loads what is loaded when it is used.
        yield* run((yield* storePair()).store, () => Effect.void)
        const wrong: Array<string> = []
        // Two of its 2048 steps for each of these.
        for (let steps = 900; steps <= 1026; steps++) {
          const it = yield* storePair()
          const done = yield* Effect.either(Effect.timeout(run(it.store, interruptedAt(steps)), "1 second"))
          const told = done._tag === "Left" ? String(done.left) : ""
          const [a, b] = [yield* document(it.other, "notes", "a"), yield* document(it.other, "notes", "b")]
          if (told !== "" || a?._rev !== 1 || b?._rev !== 1)
            wrong.push(`${steps}: ${told} ${a?._rev} ${b?._rev}`)
          if (wrong.length > 5) break
        }
        assert.deepStrictEqual(wrong, [])
      })
    )
  }
})
