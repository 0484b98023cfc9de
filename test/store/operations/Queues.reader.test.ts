import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { repository } from "../promise/Opened.js"
import { document, world } from "./Support.js"

/** Takes long enough to be checked in more than one turn. */
const large = { n: "large", list: Array.from({ length: 100_000 }, (_, at) => ({ at })) }

describe("a queue", () => {
  it.live("has documents in the order in which they were put, whatever their sizes", () =>
    Effect.gen(function* () {
      const it = yield* world()
      yield* it.store.batch({}, (batch) =>
        Effect.all([batch.put("notes", "x", large), batch.put("notes", "x", { n: "small" })], {
          concurrency: "unbounded"
        })
      )
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
    })
  )
  it.live("of a writer has documents in the order in which they were put, whatever their sizes", () =>
    Effect.gen(function* () {
      const it = yield* world()
      yield* it.store.writer({}, (writer) =>
        Effect.all([writer.put("notes", "x", large), writer.put("notes", "x", { n: "small" })], {
          concurrency: "unbounded"
        })
      )
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], "small")
    })
  )
  it.live("deletes what was put before", () =>
    Effect.gen(function* () {
      const it = yield* world()
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
  it("has them in that order on the promise face, too", async () => {
    const store = await repository().open()
    await store.batch((batch) =>
      Promise.all([batch.put("notes", "x", large), batch.put("notes", "x", { n: "small" })])
    )
    assert.strictEqual((await store.collection("notes").get("x"))!["n"], "small")
    await store.close()
  })
})
