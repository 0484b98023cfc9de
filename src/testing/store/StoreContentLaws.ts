import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import * as Collection from "../../store/CollectionDefinition.js"
import { file, read, shape, wanted } from "./StoreDocumentLaws.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const store = promiseOf("store")

const printed = (value: Json, indent: string): string => {
  if (typeof value === "number" && !Number.isInteger(value) && Math.abs(value) < 1e-4) {
    const [mantissa, exponent] = value.toExponential().split("e-")
    return `${mantissa}e-${exponent!.padStart(2, "0")}`
  }
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const members = isList
    ? value.map((item: Json) => printed(item, inner))
    : Object.keys(value)
        .sort((a, b) => (byCodePoint(a) < byCodePoint(b) ? -1 : 1))
        .map((key) => `${JSON.stringify(key)}: ${printed((value as JsonObject)[key]!, inner)}`)
  const [open, close] = isList ? ["[", "]"] : ["{", "}"]
  return members.length === 0
    ? `${open}${close}`
    : `${open}${inner}${members.join(`,${inner}`)}${indent}${close}`
}

/** A text that sorts by units as the given one does by code points. */
const byCodePoint = (text: string) =>
  Array.from(text, (character) => character.codePointAt(0)!.toString(16).padStart(6, "0")).join(" ")

/** The bytes of a document's file: the same for every client. */
export const canonicalBytes = drawnLaw(
  "canonicalBytes",
  store("the bytes of a document are canonical", "files-in-the-repository", file),
  ({ fields, file, people, expectEqual }) =>
    Effect.gen(function* () {
      const odd: JsonObject = {
        b: { z: [], y: {}, x: [1, { w: null }] },
        a: 'é\u2028"\\\n',
        "🦊": 1,
        "\uffee": 2,
        small: 1e-7,
        large: 1e21,
        half: 0.5
      }
      yield* Effect.forEach([odd, ...fields.slice(0, 3)], (given, n) =>
        Effect.gen(function* () {
          yield* people.insert(given, { id: `d${n}` })
          const document = yield* read(people, `d${n}`)
          const wrong = { ...given, _created_at: document?._created_at, _updated_at: document?._updated_at }
          const expected = printed({ ...wrong, _id: `d${n}`, _rev: 1 } as JsonObject, "\n")
          yield* expectEqual("the file", yield* file(`people/d${n}.json`), `${expected}\n`)
        })
      )
    }),
  { shardDepth: 0 }
)

/** What was handed out, and what was handed in, is the caller's own. */
export const ownership = law(
  "ownership",
  store(
    "changing what was read changes nothing stored",
    "reading",
    "`get`, `exists`, `list`, `count`, `page` and `findBy` read the branch's head."
  ),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const given = { list: [1], deep: { n: 1 } }
      yield* people.insert(given, { id: "a" })
      yield* store.batch({}, (batch) =>
        Effect.zipRight(
          batch.put("people", "b", given),
          Effect.sync(() => given.list.push(3))
        )
      )
      const found = (yield* Effect.flatten(people.get("a"))) as unknown as typeof given
      yield* Effect.sync(() => {
        found.list.push(2)
        found.deep.n = 2
      })
      for (const id of ["a", "b"]) {
        yield* expectEqual(id, shape(yield* read(people, id)), wanted(1, { list: [1], deep: { n: 1 } }))
      }
    })
)

const long = "12345678901234567890"

/** A number that JavaScript cannot hold is read, and never changed silently. */
export const exactNumbers = law(
  "exactNumbers",
  store(
    "no number is changed silently",
    "reading",
    "A number that JavaScript cannot represent exactly can be read, but a write that would change it silently is refused."
  ),
  ({ file, people, push, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const pushed = yield* push({ "people/a.json": `{"_id":"a","_rev":1,"n":${long},"m":1.5}\n` })
      const found = yield* read(people, "a")
      yield* expectEqual("it can be read", [found?._rev, found?.["n"]], [1, Number(long)])
      const rounded = { n: Number(long), m: 1.5 }
      const writes: Record<string, Effect.Effect<unknown, unknown>> = {
        "an update beside it": people.update("a", { other: 1 }),
        "an upsert beside it": people.upsert("a", { other: 1 }),
        "a replace by what was read": people.replace("a", rounded),
        "an edit beside it": people.edit("a", (document) => ({ ...document, other: 1 })),
        "a batch that puts what was read": store.batch({}, (batch) => batch.put("people", "a", rounded)),
        "a writer that puts what was read": store.writer({}, (writer) => writer.put("people", "a", rounded)),
        "an update in a transaction": store.transaction({}, (transaction) =>
          Effect.asVoid(transaction.collection("people").update("a", { other: 1 }))
        )
      }
      for (const [what, write] of Object.entries(writes)) yield* expectFailure(what, write, "ValidationError")
      yield* expectEqual("the file", (yield* file("people/a.json"))?.includes(long), true)
      yield* people.update("a", { n: long })
      yield* expectEqual("a value of one's own", (yield* read(people, "a"))?.["n"], long)
      const restore = people.restore("a", pushed)
      yield* expectFailure("a restore of a version with it", restore, "ValidationError")
      yield* expectEqual("the document", (yield* read(people, "a"))?.["n"], long)
      yield* people.delete("a")
      yield* expectFailure("a restore of a missing document with it", restore, "ValidationError")
      yield* expectEqual("no document", yield* people.exists("a"), false)
    }),
  { shardDepth: 0 }
)

const Person = Schema.Struct({
  name: Schema.String,
  born: Schema.optional(Schema.Date),
  age: Schema.optional(Schema.NumberFromString)
})

const Counted = Schema.Struct({
  name: Schema.String,
  count: Schema.Number.pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault(() => 7)
  )
})

const misfits =
  'A stored document that does not match a collection\'s schema is a `ValidationError` that names the path; `onInvalid: "skip"`'

/** A collection of a schema stores encoded values, reads decoded ones, and refuses what does not fit. */
export const schemas = law(
  "schemas",
  store("a schema is kept by reads and writes", "reading", misfits),
  ({ people: plain, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const people = store.collection("people", Person)
      const born = new Date("1815-12-10T00:00:00.000Z")
      yield* people.insert({ name: "Ada", born }, { id: "ada" })
      yield* expectEqual("stored encoded", (yield* read(plain, "ada"))?.["born"], born.toISOString())
      const found = yield* Effect.flatten(people.get("ada"))
      yield* expectEqual(
        "read decoded",
        [found.born?.getTime(), found.name, found._rev],
        [born.getTime(), "Ada", 1]
      )
      yield* plain.update("ada", { city: "London" })
      yield* people.update("ada", { age: 36 })
      const stored = yield* read(plain, "ada")
      yield* expectEqual(
        "fields of other clients survive",
        [stored?.["city"], stored?.["age"]],
        ["London", "36"]
      )
      yield* expectFailure(
        "a write that does not fit",
        people.insert({ name: 1 } as never),
        "ValidationError"
      )
      yield* plain.insert({ name: 7 }, { id: "bob" })
      yield* plain.insert({ name: "Cid" }, { id: "cid" })
      const error = yield* expectFailure("a document that does not fit", people.get("bob"), "ValidationError")
      yield* expectEqual(
        "the error names the path",
        error.issues.map((issue: any) => issue.path),
        ["name"]
      )
      yield* expectFailure("a stream of it", Stream.runCollect(people.all()), "ValidationError")
      const skipped = yield* Stream.runCollect(people.all({ onInvalid: "skip" }))
      yield* expectEqual(
        "onInvalid skip",
        Array.from(skipped, ({ _id }) => _id),
        ["ada", "cid"]
      )
      const told: Array<string> = []
      const onInvalid = (id: string) => Effect.sync(() => void told.push(id))
      const page = yield* people.page({ onInvalid })
      yield* expectEqual(
        "onInvalid function",
        [page.documents.map(({ _id }) => _id), told],
        [["ada", "cid"], ["bob"]]
      )
      const counted = store.collection("counted", Counted)
      yield* counted.upsert("a", { name: "Ada" })
      yield* expectEqual(
        "a default of a missing document",
        (yield* Effect.flatten(counted.get("a"))).count,
        7
      )
      yield* counted.update("a", { count: 3 })
      yield* counted.upsert("a", { name: "Bob" })
      const kept = yield* Effect.flatten(counted.get("a"))
      yield* expectEqual("a stored value", [kept.name, kept.count], ["Bob", 3])
    })
)

const Guest = Schema.Struct({
  name: Schema.String,
  born: Schema.Date,
  role: Schema.String.pipe(
    Schema.propertySignature,
    Schema.withConstructorDefault(() => "guest")
  )
})

/** A definition is accepted wherever a name is, and its schema, indexes and manifest apply there. */
export const definitions = law(
  "definitions",
  store(
    "a definition is accepted wherever a name is",
    "definitions",
    "Batches and writers check and encode documents of a definition by its schema, as `insert` does."
  ),
  ({ file, head, open, people, expectFailure, expectEqual }) =>
    Effect.gen(function* () {
      const guests = Collection.define("people", Guest, { indexes: ["role"], manifest: ["name"] })
      const defined = yield* open({ collections: [guests] })
      const typed = defined.collection(guests)
      const born = new Date("1815-12-10T00:00:00.000Z")
      yield* typed.insert({ name: "a", born }, { id: "a" })
      yield* defined.batch({}, (batch) =>
        Effect.zipRight(
          batch.put(guests, "b", { name: "b", born }),
          batch.insert(guests, { name: "c", born, role: "host" }, { id: "c" })
        )
      )
      yield* defined.writer({}, (writer) => writer.put(guests, "d", { name: "d", born }))
      yield* defined.transaction({}, (transaction) =>
        transaction.collection(guests).insert({ name: "e", born }, { id: "e" })
      )
      const stored = { born: born.toISOString(), role: "guest" }
      for (const id of ["a", "b", "d", "e"])
        yield* expectEqual(
          `${id} is encoded`,
          shape(yield* read(people, id)),
          wanted(1, { ...stored, name: id })
        )
      const view = (yield* defined.snapshot).collection(guests)
      for (const [how, of] of Object.entries({ "the store": typed, "a view": view })) {
        const found = yield* of.findBy("role", "guest")
        yield* expectEqual(
          `${how} returns decoded documents`,
          found.map((one) => [one._id, one.born instanceof Date]),
          ["a", "b", "d", "e"].map((id) => [id, true])
        )
        const page = yield* of.query({ where: { born: stored.born, role: "host" } })
        yield* expectEqual(
          `a query of ${how} by the encoded value`,
          page.documents.map((one) => [one._id, one.born.getTime()]),
          [["c", born.getTime()]]
        )
        const selected = yield* of.query({ where: { role: "host" }, select: ["born"] })
        yield* expectEqual(`selected fields of ${how} as they are stored`, selected.documents, [
          { _id: "c", born: stored.born }
        ])
        yield* expectEqual(`distinct values of ${how}`, yield* of.distinct("born"), [stored.born])
      }
      yield* expectEqual("its index", (yield* typed.explain("role", "guest")).source, "index")
      const manifest = JSON.parse((yield* file("_manifest/people.json"))!) as JsonObject
      yield* expectEqual("its manifest", (manifest["documents"] as JsonObject)["a"], { name: "a" })
      const at = yield* head
      const wrong = { name: 1 } as never
      const writes: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        insert: typed.insert(wrong),
        upsert: typed.upsert("a", wrong),
        "a batch": defined.batch({}, (batch) => batch.put(guests, "a", wrong)),
        "a batch that inserts": defined.batch({}, (batch) => batch.insert(guests, wrong)),
        "a writer": defined.writer({}, (writer) => writer.put(guests, "a", wrong)),
        "a transaction": defined.transaction({}, (transaction) =>
          Effect.asVoid(transaction.collection(guests).insert(wrong))
        )
      }
      for (const [what, write] of Object.entries(writes))
        yield* expectFailure(`${what} that does not fit`, write, "ValidationError")
      yield* expectEqual("nothing was written", yield* head, at)
      yield* defined.batch({}, (batch) => batch.put("people", "plain", { name: 1 }))
      yield* expectEqual("a name alone takes any document", (yield* read(people, "plain"))?.["name"], 1)
    }),
  { format: 1, indexes: undefined, manifests: undefined }
)
