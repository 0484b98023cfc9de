import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { brief, document, world } from "./Support.js"

describe("queues", () => {
  it.effect("what is queued after a discard during a commit is kept", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      let slow = true
      const it = yield* world(
        {},
        {
          onWrite: () =>
            slow ? Effect.zipRight(Deferred.succeed(arrived, undefined), Deferred.await(go)) : Effect.void
        }
      )
      yield* it.store.batch({}, (batch) =>
        Effect.gen(function* () {
          yield* batch.put("notes", "a", { n: 1 })
          yield* batch.put("notes", "b", { n: 1 })
          const committing = yield* Effect.fork(batch.commit)
          yield* Deferred.await(arrived)
          yield* batch.discard
          yield* batch.put("notes", "c", { n: 1 })
          slow = false
          yield* Deferred.succeed(go, undefined)
          yield* Fiber.join(committing)
        })
      )
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "c")), [1, { n: 1 }])
    })
  )

  it.effect("fields such as __proto__ survive every kind of write", () =>
    Effect.gen(function* () {
      const it = yield* world({
        indexes: { notes: ["constructor", "k"] },
        manifests: { notes: ["__proto__", "k"] }
      })
      const make = (n: number) =>
        JSON.parse(`{"__proto__": {"a": ${n}}, "constructor": "c${n}", "k": {"__proto__": 1}}`)
      const notes = it.store.collection("notes")
      yield* notes.insert(make(1), { id: "constructor" })
      yield* notes.update("constructor", JSON.parse('{"x": 1}'))
      yield* it.store.batch({}, (batch) => batch.put("notes", "b", make(2)))
      yield* it.store.writer({}, (writer) => writer.put("notes", "w", make(3)))
      yield* it.store.transaction({}, (tx) => tx.collection("notes").insert(make(4), { id: "t" }))
      yield* notes.upsert("constructor", JSON.parse('{"__proto__": {"a": 9}}'))
      for (const [id, n] of [
        ["constructor", 9],
        ["b", 2],
        ["w", 3],
        ["t", 4]
      ] as const) {
        const found = (yield* document(it.store, "notes", id))!
        assert.isTrue(Object.hasOwn(found, "__proto__"), id)
        assert.strictEqual(
          JSON.stringify(Object.getOwnPropertyDescriptor(found, "__proto__")!.value),
          `{"a":${n}}`
        )
      }
      assert.strictEqual((yield* notes.findBy("constructor", "c3")).length, 1)
      assert.strictEqual((yield* notes.findBy("k", JSON.parse('{"__proto__":1}'))).length, 4)
      assert.deepStrictEqual(Option.isNone(yield* notes.reindex()), true)
      const none = (yield* it.store.doctor) as unknown
      assert.isOk(none)
    })
  )
})
