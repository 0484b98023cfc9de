import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"

it.effect("restores only what is as the caller has seen it", () =>
  Effect.gen(function* () {
    const notes = (yield* Store).collection("notes")
    yield* notes.insert({ n: 1 }, { id: "a" })
    const [first] = yield* notes.history("a")
    yield* notes.update("a", { n: 2 })
    for (const expectedRev of [1, null]) {
      const refused = yield* Effect.flip(notes.restore("a", first!.sha, { expectedRev }))
      assert.strictEqual(refused._tag, "ConflictError")
    }
    assert.strictEqual((yield* Effect.flatten(notes.get("a")))._rev, 2)
    assert.strictEqual((yield* notes.restore("a", first!.sha, { expectedRev: 2 }))._rev, 3)
    yield* notes.delete("a")
    const gone = yield* Effect.flip(notes.restore("a", first!.sha, { expectedRev: 3 }))
    assert.strictEqual(gone._tag, "ConflictError")
    assert.strictEqual((yield* notes.restore("a", first!.sha, { expectedRev: null }))["n"], 1)
  }).pipe(Effect.provide(Layer.provide(Store.layer({}), Memory.layer())))
)
