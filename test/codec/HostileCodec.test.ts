import { assert, describe, it } from "@effect/vitest"
import * as Codec from "chainstore/codec"
import { Effect, Layer, Option, Schema } from "effect"
import * as Stored from "../../src/store/index.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"

const carries = <A, I extends object>(schema: Schema.Schema<A, I>, given: A) =>
  Effect.gen(function* () {
    const store = yield* Stored.Store.make()
    const things = store.collection("things", schema)
    yield* things.insert(given as never, { id: "a" })
    const read = Option.getOrThrow(yield* things.get("a"))
    const codec = Codec.document(schema)
    const wire = JSON.parse(JSON.stringify(yield* Schema.encode(codec)(read as never)))
    assert.deepStrictEqual(yield* Schema.decodeUnknown(codec)(wire), read as never)
  }).pipe(Effect.provide(Layer.fresh(Memory.layer())))

describe("the codec of documents carries what a collection reads", () => {
  it.effect("of a record", () =>
    carries(Schema.Record({ key: Schema.String, value: Schema.Number }), { a: 1 })
  )

  it.effect("of a schema that allows no other fields", () =>
    carries(
      Schema.Struct({ a: Schema.Number }).annotations({ parseOptions: { onExcessProperty: "error" } }),
      { a: 1 }
    )
  )

  it.effect("of a struct with more members", () =>
    carries(Schema.Struct({ a: Schema.Number }, { key: Schema.String, value: Schema.Number }), { a: 1, b: 2 })
  )

  it.effect("of plain documents with every name of a field that the store takes", () =>
    Effect.gen(function* () {
      const store = yield* Stored.Store.make()
      const things = store.collection("things")
      yield* things.insert(JSON.parse('{"__proto__":{"x":1},"constructor":2}'), { id: "odd" })
      for (const id of ["odd"]) {
        const read = Option.getOrThrow(yield* things.get(id))
        const wire = JSON.stringify(yield* Schema.encode(Codec.StoredDocument)(read))
        assert.deepStrictEqual(JSON.parse(wire), JSON.parse(JSON.stringify(read)), id)
        const back = yield* Schema.decodeUnknown(Codec.StoredDocument)(JSON.parse(wire))
        assert.strictEqual(JSON.stringify(back), wire, id)
      }
    }).pipe(Effect.provide(Layer.fresh(Memory.layer())))
  )
})
