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

describe("the codec of JSON", () => {
  const isJson = Schema.is(Codec.Json)

  it("refuses values that JSON cannot represent, from any source", () => {
    const cycle: { [key: string]: unknown } = { n: 1 }
    cycle["again"] = [cycle, cycle]
    const deep = Array.from({ length: 1_000 }).reduce<unknown>((inner) => [inner], 1)
    const others = [new Date(0), new Map([[1, 2]]), new Set(), new Uint8Array(1), Object(3), /x/]
    for (const value of [...others, new Array(2), [undefined], { a: () => 1 }, 1n, cycle, deep]) {
      assert.isFalse(isJson(value))
      assert.isFalse(isJson({ a: [value] }))
      assert.isFalse(Schema.is(Codec.JsonObject)(value))
    }
  })

  it("takes what is there in many places, in time", () => {
    const wide = Array.from({ length: 60 }).reduce<unknown>((inner) => [inner, { inner }], { a: [null] })
    assert.isTrue(isJson(wide))
    assert.isTrue(isJson(Object.assign(Object.create(null), { a: 1 })))
  })
})
