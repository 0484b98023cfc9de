import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Option, Ref, Schema, Sink, Stream } from "effect"
import { expectTypeOf } from "vitest"
import {
  Collection,
  type Page,
  type QueryExplanation,
  type ReadError,
  type StoredDocument,
  type Typed
} from "../../../src/store/index.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import { Store } from "../../../src/store/Store.js"
import { fromCsv } from "../../../src/store/transfer/FromCsv.js"
import { repository } from "../promise/SharedRepository.js"
import { remotes } from "./Remotes.js"

/** A service that a schema requires. */
class Cipher extends Context.Tag("test/Cipher")<Cipher, { readonly turn: (text: string) => string }>() {}

const Secret = Schema.transformOrFail(Schema.String, Schema.String, {
  decode: (text) => Effect.map(Cipher, ({ turn }) => turn(text)),
  encode: (text) => Effect.map(Cipher, ({ turn }) => turn(text))
})

const Person = Schema.Struct({
  name: Schema.NonEmptyString,
  born: Schema.optional(Schema.Date),
  role: Schema.String.pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault(() => "guest")
  ),
  tags: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
})

class Account extends Schema.Class<Account>("Account")({
  owner: Schema.String,
  balance: Schema.optionalWith(Schema.Number, { default: () => 0 })
}) {
  get isEmpty() {
    return this.balance === 0
  }
}

const people = Collection.define("people", Person, { indexes: ["role"], manifest: ["name"] })
const accounts = Collection.define("accounts", Account)
const secrets = Collection.define("secrets", Schema.Struct({ text: Secret }))

const memory = Layer.provide(Store.layer({ collections: [people, accounts] }), Memory.layer())

const fields = ({ _created_at, _id, _rev, _updated_at, ...rest }: StoredDocument) => rest

describe("a definition of a collection", () => {
  it.live("replaces the collection in imports and exports", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const collection = store.collection(people)
      const refused = yield* Effect.flip(collection.importRecords([{ _id: "x", name: "" }]))
      assert.strictEqual(refused._tag, "ValidationError")
      const report = yield* collection.importRecords(fromCsv("_id,name,role\nada,Ada,admin\n"))
      assert.strictEqual(report.inserted, 1)
      yield* store.collection(accounts).importRecords([{ _id: "1", owner: "ada", balance: 3 }])
      const bytes = Effect.map(
        Ref.make(0),
        (ref) =>
          [Sink.forEach((part: Uint8Array) => Ref.update(ref, (sum) => sum + part.length)), ref] as const
      )
      const [text, read] = yield* bytes
      assert.strictEqual(yield* collection.exportText(text, "csv", { columns: ["name"] }), 1)
      assert.strictEqual(yield* Ref.get(read), "name\r\nAda\r\n".length)
      const [sheet, written] = yield* bytes
      const columns = yield* store.exportExcel(sheet, {
        collections: [accounts, people],
        columns: { [people.name]: ["name", "role"] }
      })
      assert.deepStrictEqual(Object.keys(columns), ["accounts", "people"])
      assert.deepStrictEqual(columns["people"], ["name", "role"])
      assert.isAbove(yield* Ref.get(written), 0)
    }).pipe(Effect.provide(memory))
  )

  it.effect("replaces name and schema, and adds its indexes and manifest to the store", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const collection = store.collection(people)
      yield* collection.insert({ name: "Ada", born: new Date("1815-12-10"), role: "admin" }, { id: "ada" })
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.expect(people, "ada", { rev: 1 }),
          batch.put(people, "bob", { name: "Bob" }),
          batch.insert(accounts, { owner: "bob" }, { id: "1" }),
          batch.put("plain", "x", { anything: [1] })
        ])
      )
      yield* store.writer({}, (writer) => writer.put(people, "eve", { name: "Eve", tags: ["b"] }))
      const { result } = yield* store.transaction({}, (tx) => tx.collection(people).get("bob"))
      assert.deepInclude(Option.getOrThrow(result), { name: "Bob", role: "guest", tags: [] })
      const raw = store.collection("people")
      const stored = yield* Stream.runCollect(raw.all())
      assert.deepStrictEqual(Array.from(stored, fields), [
        { name: "Ada", born: "1815-12-10T00:00:00.000Z", role: "admin", tags: [] },
        { name: "Bob", role: "guest", tags: [] },
        { name: "Eve", role: "guest", tags: ["b"] }
      ])
      assert.strictEqual((yield* collection.explain("role", "guest")).source, "index")
      const guests = yield* collection.findBy("tags", "b")
      assert.deepStrictEqual(
        guests.map(({ name }) => name),
        ["Eve"]
      )
      const view = yield* store.snapshot
      assert.strictEqual(
        (yield* Effect.flatten(view.collection(people).get("ada"))).born?.getFullYear(),
        1815
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("fills in what is left out of a new document, and no field of a stored one", () =>
    Effect.gen(function* () {
      const collection = (yield* Store).collection(people)
      yield* collection.upsert("ada", { name: "Ada" })
      yield* collection.update("ada", { role: "admin", tags: ["a"] })
      const { name, role, tags } = yield* collection.upsert("ada", { name: "Ada Lovelace" })
      assert.deepStrictEqual([name, role, tags], ["Ada Lovelace", "admin", ["a"]])
      const replaced = yield* collection.replace("ada", { name: "Ada" })
      assert.deepStrictEqual([replaced.role, replaced.tags], ["guest", []])
      const opened = (yield* Store).collection(accounts)
      yield* opened.insert({ owner: "ada" }, { id: "1" })
      yield* opened.insert(new Account({ owner: "bob", balance: 3 }), { id: "2" })
      const all = yield* Stream.runCollect(opened.all())
      assert.deepStrictEqual(
        Array.from(all, (one) => [one instanceof Account, one.owner, one.isEmpty]),
        [
          [true, "ada", true],
          [true, "bob", false]
        ]
      )
      assert.strictEqual((yield* opened.update("1", { balance: 4 })).isEmpty, false)
    }).pipe(Effect.provide(memory))
  )

  it.effect("checks what batches and writers are given", () =>
    Effect.gen(function* () {
      const store = yield* Store
      const wrong = { name: "" }
      const errors = yield* Effect.all([
        Effect.flip(store.batch({}, (batch) => batch.put(people, "x", wrong))),
        Effect.flip(store.writer({}, (writer) => writer.insert(people, wrong))),
        Effect.flip(store.collection(people).insert(wrong))
      ])
      for (const { message } of errors) {
        assert.match(message, /cannot be written: name: Expected a non empty string/)
      }
      assert.deepStrictEqual(yield* store.collections, [])
      const nameless = store.batch({}, (batch) =>
        // @ts-expect-error: the name is missing
        batch.put(people, "x", {})
      )
      assert.match((yield* Effect.flip(nameless)).message, /name: is missing/)
    }).pipe(Effect.provide(memory))
  )

  for (const [name, remote] of remotes) {
    it.scoped(`takes what its schema requires from the fiber that runs an operation, on ${name}`, () =>
      Effect.gen(function* () {
        const store = yield* Store
        const collection = store.collection(secrets)
        const rot = (by: number): Context.Tag.Service<Cipher> => ({
          turn: (text) => [...text].map((one) => String.fromCharCode(one.charCodeAt(0) ^ by)).join("")
        })
        const both = Effect.all(
          Array.from({ length: 6 }, (_, n) =>
            Effect.provideService(
              Effect.zipRight(
                collection.insert({ text: `s${n}` }, { id: `s${n}` }),
                collection.update(`s${n}`, { text: `t${n}` })
              ),
              Cipher,
              rot(n)
            )
          ),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          (yield* both).map(({ text }) => text),
          ["t0", "t1", "t2", "t3", "t4", "t5"]
        )
        const stored = yield* Stream.runCollect(store.collection("secrets").all())
        assert.deepStrictEqual(
          Array.from(stored, (one) => one["text"]),
          Array.from({ length: 6 }, (_, n) => rot(n).turn(`t${n}`))
        )
        const put = store.batch({}, (batch) => batch.put(secrets, "x", { text: "x" }))
        expectTypeOf(put).toExtend<Effect.Effect<unknown, unknown, Cipher>>()
        expectTypeOf(collection.get("x")).toExtend<Effect.Effect<unknown, unknown, Cipher>>()
        // @ts-expect-error: the cipher is required
        expectTypeOf(collection.get("x")).toExtend<Effect.Effect<unknown, unknown>>()
        yield* Effect.provideService(put, Cipher, rot(1))
        const query = collection.query({ orderBy: "_id", limit: 1 })
        expectTypeOf(query).toEqualTypeOf<
          Effect.Effect<Page<Typed<{ readonly text: string }>>, ReadError, Cipher>
        >()
        const { documents } = yield* Effect.provideService(query, Cipher, rot(0))
        assert.strictEqual(documents[0]?.text, "t0")
        const first = yield* Stream.runHead(collection.queryAll()).pipe(Effect.provideService(Cipher, rot(0)))
        assert.strictEqual(Option.getOrThrow(first).text, "t0")
        // Fields are as the file has them: nothing is decoded.
        const selected = yield* collection.query({ select: ["text"], limit: 1, explain: true })
        expectTypeOf(selected.explanation).toEqualTypeOf<QueryExplanation>()
        expectTypeOf(selected.documents[0]!.text).toEqualTypeOf<string>()
        assert.strictEqual(selected.documents[0]?.text, rot(0).turn("t0"))
        const report = yield* Effect.provideService(
          collection.importRecords([{ _id: "y", text: "y" }]),
          Cipher,
          rot(1)
        )
        assert.strictEqual(report.inserted, 1)
      }).pipe(Effect.provide(Layer.provide(Store.layer(), remote)))
    )
  }

  it("is refused where it is wrong, or is given beside the same options", async () => {
    assert.throws(() => Collection.define("_people", Person), /collection "_people"/)
    const told = (options: Parameters<typeof Store.make>[0]) =>
      Effect.runPromise(
        Effect.map(Effect.flip(Effect.provide(Store.make(options), Memory.layer())), ({ message }) => message)
      )
    assert.match(
      await told({ collections: [people], indexes: { people: ["name"] } }),
      /collections: the indexes of people are given twice/
    )
    assert.match(await told({ collections: [people, people] }), /of people are given twice/)
    assert.match(
      await told({ collections: [{ name: "people" }] as never }),
      /collections must be a list of definitions/
    )
    // @ts-expect-error: there is no such field
    Collection.define("people", Person, { indexes: ["age"] })
    // @ts-expect-error: there is no such field
    Collection.define("people", Person, { manifest: ["age"] })
  })

  it("is taken by promises too, where its schema requires nothing", async () => {
    const store = await repository().open()
    try {
      await store.batch((batch) => batch.put(people, "ada", { name: "Ada" }))
      const ada = await store.collection(people).get("ada")
      expectTypeOf(ada?.born).toEqualTypeOf<Date | undefined>()
      assert.deepInclude(ada, { name: "Ada", role: "guest" })
      const { documents } = await store
        .collection(people)
        .query({ where: { role: "guest" }, select: ["name"] })
      expectTypeOf(documents[0]!.name).toEqualTypeOf<string>()
      assert.deepStrictEqual(documents, [{ _id: "ada", name: "Ada" }])
      const page = await store.collection("people", Person).query({ explain: true })
      expectTypeOf(page.documents[0]!.born).toEqualTypeOf<Date | undefined>()
      assert.strictEqual(page.explanation.source, "scan")
      // @ts-expect-error: there is nobody who gives what the schema requires
      assert.isDefined(store.collection(secrets))
      // @ts-expect-error: a name is a text
      const wrong = store.batch((batch) => batch.put(people, "bob", { name: 5 }))
      assert.match(String(await wrong.catch(String)), /cannot be written/)
    } finally {
      await store.close()
    }
  })
})
