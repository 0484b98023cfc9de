/**
 * A collection with a schema: writes are encoded and checked, reads are decoded, foreign fields survive.
 *
 * Output:
 * Ada was born in 1815
 * ValidationError: people/ada cannot be patched: name: Expected a non empty string, actual ""
 * Ada Lovelace, 1815-12-10T00:00:00.000Z, of another client
 * ValidationError: people/ada does not fit its schema: born: Expected a valid Date, actual Invalid Date
 * 0 readable people
 */
import { Memory, Store, type StoreError } from "chainstore/store"
import { Effect, Layer, Option, Schema, Stream } from "effect"

const Person = Schema.Struct({
  name: Schema.NonEmptyString,
  born: Schema.optional(Schema.Date)
})

const told = (error: StoreError) => Effect.sync(() => console.log(`${error._tag}: ${error.message}`))

const program = Effect.gen(function* () {
  const store = yield* Store
  const people = store.collection("people", Person)
  const raw = store.collection("people")

  yield* people.insert({ name: "Ada", born: new Date("1815-12-10") }, { id: "ada" })
  const ada = Option.getOrThrow(yield* people.get("ada"))
  console.log(`${ada.name} was born in ${ada.born?.getUTCFullYear()}`)

  yield* people.update("ada", { name: "" }).pipe(Effect.catchTag("ValidationError", told))

  yield* raw.update("ada", { note: "of another client" })
  yield* people.update("ada", { name: "Ada Lovelace" })
  const { born, name, note } = Option.getOrThrow(yield* raw.get("ada"))
  console.log([name, born, note].join(", "))

  yield* raw.update("ada", { born: "long ago" })
  yield* people.get("ada").pipe(Effect.catchTag("ValidationError", told))
  const readable = yield* Stream.runCount(people.all({ onInvalid: "skip" }))
  console.log(`${readable} readable people`)
})

const layer = Layer.provide(Store.layer(), Memory.layer())
await Effect.runPromise(Effect.provide(program, layer))
