/**
 * A collection definition: name, schema, indexes and manifest in one value. Every function that takes a collection's name
 * accepts it, and batches validate documents with its schema.
 *
 * Output:
 * ada: admin since 1815, bob: guest
 * found by an index: bob
 * ValidationError: people/eve cannot be written: name: Expected a non empty string, actual ""
 * Ada Lovelace is still admin
 * _schemas/people.json: name, born, role
 */
import { Collection, Memory, Store } from "chainstore/store"
import { Chunk, Console, Effect, Layer, Option, Schema, Stream } from "effect"

class Person extends Schema.Class<Person>("Person")({
  name: Schema.NonEmptyString,
  born: Schema.optional(Schema.Date),
  role: Schema.optionalWith(Schema.Literal("guest", "admin"), { default: () => "guest" })
}) {
  get shown() {
    return this.born === undefined ? this.role : `${this.role} since ${this.born.getUTCFullYear()}`
  }
}

const people = Collection.define("people", Person, { indexes: ["role"], manifest: ["name"] })

const program = Effect.gen(function* () {
  const store = yield* Store
  yield* store.batch({ message: "the first two" }, (batch) =>
    Effect.all([
      batch.put(people, "ada", { name: "Ada", born: new Date("1815-12-10"), role: "admin" }),
      batch.put(people, "bob", { name: "Bob" })
    ])
  )
  const collection = store.collection(people)
  const all = yield* Stream.runCollect(collection.all())
  yield* Console.log(
    Chunk.toReadonlyArray(all)
      .map(({ _id, shown }) => `${_id}: ${shown}`)
      .join(", ")
  )

  const { source } = yield* collection.explain("role", "guest")
  const [guest] = yield* collection.findBy("role", "guest")
  yield* Console.log(`found by an ${source}: ${guest?._id}`)

  yield* store
    .batch({}, (batch) => batch.put(people, "eve", { name: "" }))
    .pipe(Effect.catchTag("ValidationError", ({ _tag, message }) => Console.log(`${_tag}: ${message}`)))

  // A default is for a document that is new: the role stays.
  const { name, role } = yield* collection.upsert("ada", { name: "Ada Lovelace" })
  yield* Console.log(`${name} is still ${role}`)

  // For forms, and for programs in other languages.
  yield* collection.writeJsonSchema()
  const { properties } = Option.getOrThrow(yield* collection.jsonSchema)
  yield* Console.log(`_schemas/people.json: ${Object.keys(properties as object).join(", ")}`)
})

const layer = Layer.provide(Store.layer({ collections: [people] }), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))
