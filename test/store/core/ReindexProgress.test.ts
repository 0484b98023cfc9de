import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer } from "effect"
import * as Store from "../../../src/store/Store.js"
import { hosted, remotes } from "./Remotes.js"

describe.each([...remotes, ...hosted])("progress of a reindex on %s", (_name, layer) => {
  it.live("may write to the store, and ends the reindex by dying", () =>
    Effect.gen(function* () {
      const store = yield* Store.make({ indexes: { notes: ["n"] } })
      const notes = store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "a" })
      for (const run of [
        <A, E>(write: Effect.Effect<A, E>) => write,
        // As the Promise face runs what a caller's function does.
        // @effect-diagnostics-next-line runEffectInsideEffect:off
        <A, E>(write: Effect.Effect<A, E>) => Effect.promise(() => Effect.runPromise(write))
      ]) {
        let told = 0
        yield* notes
          .reindex({
            onProgress: ({ documents }) =>
              Effect.suspend(() => run(notes.upsert(`told-${told++}`, { n: documents }))).pipe(Effect.orDie)
          })
          .pipe(Effect.timeout("10 seconds"))
        assert.isAtLeast(told, 1)
        assert.strictEqual((yield* notes.list()).length, 1 + told)
        for (let id = 0; id < told; id++) yield* notes.delete(`told-${id}`)
      }
      const ended = yield* Effect.exit(notes.reindex({ onProgress: () => Effect.die("mine") }))
      assert.strictEqual(Exit.isFailure(ended) ? Cause.squash(ended.cause) : undefined, "mine")
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})
