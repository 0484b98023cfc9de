import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { ConflictError } from "../../../src/domain/errors/StoreError.js"
import * as Store from "../../../src/store/Store.js"
import { hosted, remotes } from "./Remotes.js"

describe.each([...remotes, ...hosted])("writers of one document in one process on %s", (_name, layer) => {
  it.live("see no conflict with each other, whichever way each of them writes", () =>
    Effect.gen(function* () {
      const store = yield* Store.make({ cache: false, conflictRetries: 0, batchRetries: 0 })
      const notes = store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "shared" })
      const rounds = (write: (round: number) => Effect.Effect<unknown, unknown>) =>
        Effect.forEach([1, 2, 3, 4], write, { discard: true })
      const writers = [
        rounds((n) => notes.update("shared", { a: n })),
        rounds((n) => notes.upsert("shared", { b: n })),
        rounds((n) => notes.upsert("other", { c: n })),
        rounds((n) =>
          store.batch({}, (batch) =>
            Effect.zipRight(batch.put("notes", "shared", { n }), batch.put("notes", "other", { n }))
          )
        ),
        rounds((n) => store.writer({}, (writer) => writer.put("notes", "shared", { n })))
      ]
      yield* Effect.all(writers, { concurrency: "unbounded", discard: true })
      assert.strictEqual(
        (yield* notes.version("shared")).pipe((found) => found._tag),
        "Some"
      )
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )

  it.live("conflict if they expect a revision: one of them writes, and the others get its version", () =>
    Effect.gen(function* () {
      const store = yield* Store.make({ conflictRetries: 0 })
      const notes = store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "shared" })
      const writes = Array.from({ length: 8 }, (_, n) =>
        Effect.either(notes.update("shared", { n }, { expectedRev: 1 }))
      )
      const answers = yield* Effect.all(writes, { concurrency: "unbounded" })
      const refused = answers.flatMap((answer) => (Either.isLeft(answer) ? [answer.left] : []))
      assert.lengthOf(refused, 7)
      const { rev, sha } = Option.getOrThrow(yield* notes.version("shared"))
      assert.strictEqual(rev, 2)
      for (const error of refused) {
        assert.instanceOf(error, ConflictError)
        assert.deepInclude(error.conflicts[0]?.actual, { rev, sha })
      }
    }).pipe(Effect.provide(Layer.fresh(layer)))
  )
})
