import { assert, describe, it } from "@effect/vitest"
import * as Codec from "chainstore/codec"
import { Arbitrary, Effect, Equal, FastCheck, Layer, Option, Schema } from "effect"
import { AsyncStepError, UnhandledRequestError } from "../../src/chain/index.js"
import * as Stored from "../../src/store/index.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"

type Transformation = Schema.Schema<any, any> & { readonly from: Schema.Schema<any, any> }
type Class = new (fields: any) => Error

const classes: Readonly<Record<string, readonly [codec: Transformation, Class: Class]>> = {
  NotFoundError: [Codec.NotFoundError, Stored.NotFoundError],
  ConflictError: [Codec.ConflictError, Stored.ConflictError],
  RateLimitError: [Codec.RateLimitError, Stored.RateLimitError],
  AuthError: [Codec.AuthError, Stored.AuthError],
  ValidationError: [Codec.ValidationError, Stored.ValidationError],
  AmbiguousWriteError: [Codec.AmbiguousWriteError, Stored.AmbiguousWriteError],
  RemoteError: [Codec.RemoteError, Stored.RemoteError],
  SourceError: [Codec.SourceError, Stored.SourceError],
  DestinationError: [Codec.DestinationError, Stored.DestinationError],
  RefMoved: [Codec.RefMoved, Stored.RefMoved],
  UnhandledRequestError: [Codec.UnhandledRequestError, UnhandledRequestError],
  AsyncStepError: [Codec.AsyncStepError, AsyncStepError]
}

const overTheWire = (encoded: unknown): unknown => JSON.parse(JSON.stringify(encoded))

describe("the codec of each error", () => {
  it("is there for every error that the package exports", () => {
    const errors = Object.entries({ ...Stored, AsyncStepError, UnhandledRequestError })
      .filter(([, value]) => typeof value === "function" && value.prototype instanceof Error)
      .map(([name]) => name)
      .filter((name) => name !== "StoreError")
    assert.sameMembers(Object.keys(classes), errors)
  })

  it.each(Object.entries(classes))(
    "carries %s as an instance with all that it says",
    (tag, [codec, Class]) => {
      const told = (error: Error) => JSON.stringify({ ...error, message: error.message })
      FastCheck.assert(
        FastCheck.property(Arbitrary.make(Schema.typeSchema(codec.from)), (fields) => {
          const given = overTheWire(Schema.encodeSync(codec.from)(fields))
          const error = Schema.decodeUnknownSync(codec)(given)
          assert.instanceOf(error, Class)
          const wire = overTheWire(Schema.encodeSync(codec)(error))
          assert.deepStrictEqual(wire, given)
          const carried = Schema.decodeUnknownSync(codec)(wire)
          assert.instanceOf(carried, Class)
          assert.propertyVal(carried, "_tag", tag)
          assert.strictEqual(told(carried), told(error))
        })
      )
    }
  )

  it("leaves the cause and what is undefined where they are", () => {
    const error = new Stored.RemoteError({
      operation: "get",
      message: "no connection",
      reason: "Unreachable",
      path: undefined,
      cause: new Error("authorization: Bearer secret")
    })
    const encoded = Schema.encodeSync(Codec.RemoteError)(error)
    assert.deepStrictEqual(encoded, {
      _tag: "RemoteError",
      message: "no connection",
      operation: "get",
      reason: "Unreachable"
    })
    const conflict = new Stored.ConflictError({
      operation: "update",
      message: "changed",
      conflicts: [{ collection: "a", id: "b", expected: null, actual: { rev: 2, sha: undefined } }]
    })
    assert.deepStrictEqual(Schema.encodeSync(Codec.ConflictError)(conflict).conflicts, [
      { collection: "a", id: "b", expected: null, actual: { rev: 2 } }
    ])
    const double = new Stored.ConflictError({
      operation: "insert",
      message: "there is another one",
      conflicts: [],
      reason: "UniqueViolation",
      violations: [{ collection: "a", index: "mail", value: { deep: [1] }, id: "b", other: "c" }]
    })
    const wire = overTheWire(Schema.encodeSync(Codec.ConflictError)(double))
    const back = Schema.decodeUnknownSync(Codec.ConflictError)(wire)
    assert.isTrue(Stored.isUniqueViolation(back))
    assert.deepStrictEqual(back.violations, double.violations)
  })

  it.effect("is found in the unions by its tag", () =>
    Effect.gen(function* () {
      const error = new Stored.NotFoundError({ operation: "get", message: "gone", id: "a" })
      const read = overTheWire(yield* Schema.encode(Codec.ReadError)(error))
      assert.instanceOf(yield* Schema.decodeUnknown(Codec.ReadError)(read), Stored.NotFoundError)
      const written = overTheWire(yield* Schema.encode(Codec.WriteError)(error))
      assert.instanceOf(yield* Schema.decodeUnknown(Codec.WriteError)(written), Stored.NotFoundError)
      const moved = new Stored.RefMoved({ ref: "main", expected: Option.none(), actual: Option.none() })
      const back = yield* Schema.decode(Codec.RefMoved)(yield* Schema.encode(Codec.RefMoved)(moved))
      assert.isTrue(Equal.equals(back, moved))
    })
  )
})

class Person extends Schema.Class<Person>("Person")({ name: Schema.NonEmptyString, born: Schema.Date }) {
  #looked = 0
  get year() {
    return this.born.getUTCFullYear()
  }
  look() {
    return ++this.#looked
  }
}

/** A value of one instance for all documents. */
const Nothing = Schema.transform(Schema.Struct({}), Schema.Any, {
  strict: true,
  decode: () => nothing,
  encode: () => ({})
}) as unknown as Schema.Schema<object, object>
const nothing = new (class Nothing {})()

describe("the codec of a document", () => {
  it.effect("carries what a collection of the same schema reads", () =>
    Effect.gen(function* () {
      const store = yield* Stored.Store
      const people = store.collection("people", Person)
      const born = new Date("1815-12-10")
      yield* people.insert(new Person({ name: "Ada", born }), { id: "ada" })
      const read = yield* Effect.flatten(people.get("ada"))
      const codec = Codec.document(Person)
      assert.strictEqual(read.look(), 1)
      const wire = overTheWire(yield* Schema.encode(codec)(read))
      const raw = yield* Effect.flatten(store.collection("people").get("ada"))
      assert.deepStrictEqual(wire, raw)
      const carried = yield* Schema.decodeUnknown(codec)(wire)
      assert.instanceOf(carried, Person)
      assert.strictEqual(carried.look(), 1)
      assert.deepStrictEqual([carried.year, carried._id, carried._rev], [1815, "ada", 1])
      assert.deepStrictEqual(carried, read)
      assert.deepStrictEqual(yield* Schema.decodeUnknown(Codec.StoredDocument)(wire), raw)
      const without = { ...raw, _rev: undefined }
      assert.strictEqual((yield* Effect.flip(Schema.decodeUnknown(codec)(without)))._tag, "ParseError")
      assert.strictEqual((yield* Effect.flip(Schema.decodeUnknown(Codec.StoredDocument)({ ...raw, n: Number.NaN })))._tag, "ParseError") // biome-ignore format: one line
    }).pipe(Effect.provide(Layer.provide(Stored.Store.layer(), Memory.layer())))
  )

  it.effect("distinguishes documents that are one instance to their schema", () =>
    Effect.gen(function* () {
      const things = (yield* Stored.Store).collection("things", Nothing)
      for (const id of ["a", "b"]) yield* things.insert({}, { id })
      const [a, b] = yield* Effect.forEach(["a", "b"], (id) => Effect.flatten(things.get(id)))
      assert.deepStrictEqual([a?._id, b?._id], ["a", "b"])
    }).pipe(Effect.provide(Layer.provide(Stored.Store.layer(), Memory.layer())))
  )

  it.effect("patches a class through its setters, and refuses where it has none", () =>
    Effect.gen(function* () {
      class Money {
        #cents: number
        constructor(cents: number) {
          this.#cents = cents
        }
        get cents() {
          return this.#cents
        }
        set cents(cents) {
          this.#cents = cents
        }
        get euros() {
          return this.#cents / 100
        }
      }
      const schema = Schema.transform(Schema.Struct({ cents: Schema.Number }), Schema.instanceOf(Money), {
        strict: true,
        decode: ({ cents }) => new Money(cents),
        encode: ({ cents }) => ({ cents })
      })
      const store = yield* Stored.Store
      const prices = store.collection("prices", schema)
      yield* prices.insert(new Money(500), { id: "a" })
      yield* prices.update("a", { cents: 700 })
      assert.strictEqual((yield* Effect.flatten(prices.get("a"))).euros, 7)
      const refused = yield* Effect.flip(prices.update("a", { euros: 9 }))
      assert.strictEqual(refused._tag, "ValidationError")
      assert.match(refused.message, /prices\/a cannot be patched: .*euros/)
      assert.strictEqual((yield* Effect.flatten(store.collection("prices").get("a")))["cents"], 700)
    }).pipe(Effect.provide(Layer.provide(Stored.Store.layer(), Memory.layer())))
  )
})
