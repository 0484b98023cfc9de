import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Option } from "effect"
import type { Batch } from "../../../src/store/Batch.js"
import type { Writer } from "../../../src/store/Writer.js"
import { repository } from "../promise/SharedRepository.js"
import { brief, document, storePair } from "./StorePair.js"

describe("queues", () => {
  it.effect("what is queued after a discard during a commit is kept", () =>
    Effect.gen(function* () {
      const arrived = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      let slow = true
      const it = yield* storePair(
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
      const it = yield* storePair({
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

/** Takes long enough to be checked in more than one turn. */
const large = { n: "large", list: Array.from({ length: 100_000 }, (_, at) => ({ at })) }

describe("the order of a queue", () => {
  it.live("is that of the calls, whatever the sizes of the documents", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.batch({}, (batch) =>
        Effect.all([batch.put("notes", "x", large), batch.put("notes", "x", { n: "small" })], {
          concurrency: "unbounded"
        })
      )
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
    })
  )
  it.live("is that of the calls of a writer, too", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.writer({}, (writer) =>
        Effect.all([writer.put("notes", "x", large), writer.put("notes", "x", { n: "small" })], {
          concurrency: "unbounded"
        })
      )
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
    })
  )
  it.live("puts a deletion behind the put of the same document", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.batch({}, (batch) =>
        Effect.all(
          [batch.put("notes", "x", large), batch.put("notes", "y", { n: 1 }), batch.delete("notes", "x")],
          {
            concurrency: "unbounded"
          }
        )
      )
      assert.isTrue(Option.isNone(yield* it.other.collection("notes").get("x")))
    })
  )
  it("is that of the calls on the promise face", async () => {
    const store = await repository().open()
    await store.batch((batch) =>
      Promise.all([batch.put("notes", "x", large), batch.put("notes", "x", { n: "small" })])
    )
    assert.strictEqual((await store.collection("notes").get("x"))!["n"], "small")
    await store.close()
  })

  it("has the documents of puts that are not awaited", async () => {
    const store = await repository().open()
    await store.batch((batch) => void batch.put("notes", "x", large))
    assert.strictEqual((await store.collection("notes").get("x"))!["n"], "large")
    await store.close()
  })
  it.live("keeps no entry of an interrupted put, and a commit does not wait for it", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.batch({}, (batch) =>
        Effect.gen(function* () {
          const putting = yield* Effect.fork(batch.put("notes", "x", large))
          while ((yield* batch.operations) === 0) yield* Effect.yieldNow()
          yield* batch.put("notes", "y", { n: "small" })
          yield* Fiber.interrupt(putting)
          assert.isTrue(Exit.isInterrupted(yield* Fiber.await(putting)))
          assert.strictEqual(yield* batch.operations, 1)
        })
      )
      assert.isTrue(Option.isNone(yield* it.other.collection("notes").get("x")))
      assert.strictEqual((yield* document(it.other, "notes", "y"))!["n"], "small")
    })
  )
  it.live("has no place for a put that was refused: an insert of the same document behind it is made", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const wrong = { ...large, z: () => 1 } as never
      const queue = (queue: Batch | Writer) =>
        Effect.all(
          [
            Effect.either(queue.put("notes", "x", wrong)),
            Effect.either(queue.insert("notes", { n: "small" }, { id: "x" })),
            Effect.either(queue.insert("notes", { n: "again" }, { id: "x" }))
          ],
          { concurrency: "unbounded" }
        )
      const told = (results: ReadonlyArray<Either.Either<unknown, { readonly _tag: string }>>) =>
        results.map(Either.match({ onLeft: ({ _tag }) => _tag, onRight: () => "queued" }))
      const expected = ["ValidationError", "queued", "ConflictError"]
      const { result } = yield* it.store.batch({}, queue)
      assert.deepStrictEqual(told(result), expected)
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
      yield* it.store.collection("notes").delete("x")
      assert.deepStrictEqual(told((yield* it.store.writer({}, queue)).result), expected)
      assert.strictEqual((yield* document(it.store, "notes", "x"))!["n"], "small")
    })
  )
  it.live("is kept where a batch is committed and a writer flushed during a check", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const order = (queue: Batch | Writer, end: Effect.Effect<unknown, unknown>) =>
        Effect.all([queue.put("notes", "x", large), end, queue.put("notes", "x", { n: "small" }), end], {
          concurrency: "unbounded"
        })
      yield* it.store.batch({}, (batch) => order(batch, batch.commit))
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
      yield* it.store.collection("notes").delete("x")
      yield* it.store.writer({ maxOperations: 1 }, (writer) => order(writer, writer.flush))
      assert.strictEqual((yield* document(it.store, "notes", "x"))!["n"], "small")
    })
  )
})
