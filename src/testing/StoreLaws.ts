import { Chunk, Context, Data, Effect, Either, FastCheck, Inspectable, Option, Random, Stream } from "effect"
import type { JsonObject, StoredDocument } from "../domain/Document.js"
import type { Collection } from "../store/Collection.js"
import { Store } from "../store/Store.js"
import type { StoreService } from "../store/StoreService.js"
import * as StoreArbitrary from "./StoreArbitrary.js"
import { canonical, fieldsOf, matches } from "./StoreModel.js"

/** A law that does not hold for a store. */
export class StoreLawViolation extends Data.TaggedError("StoreLawViolation")<{
  readonly law: string
  readonly expected: unknown
  readonly actual: unknown
  /** Give it as `Seed` to check the law with the same documents. */
  readonly seed: number
}> {
  override get message() {
    const { actual, expected, law, seed } = this
    return `${law}: expected ${Inspectable.toStringUnknown(expected)}, got ${Inspectable.toStringUnknown(actual)} (seed ${seed})`
  }
}

/** What the documents of a law are drawn by; a new number each time unless one is provided. */
export class Seed extends Context.Reference<Seed>()("chainstore/testing/StoreLaws/Seed", {
  defaultValue: (): number | undefined => undefined
}) {}

/** A failure that a law itself asks for. */
class Refusal extends Data.TaggedError("Refusal") {}

/** A statement about every store. It works in collections of its own, and leaves them behind. */
export interface StoreLaw {
  readonly name: string
  readonly check: Effect.Effect<void, unknown, Store>
}

interface Case {
  readonly store: StoreService
  readonly collection: Collection
  readonly fields: ReadonlyArray<JsonObject>
  readonly same: (actual: unknown, expected: unknown) => Effect.Effect<void, StoreLawViolation>
  readonly refused: (
    effect: Effect.Effect<unknown, unknown>,
    tag: string
  ) => Effect.Effect<void, StoreLawViolation>
}

let cases = 0

const law = (name: string, body: (given: Case) => Effect.Effect<unknown, unknown>): StoreLaw => ({
  name,
  check: Effect.gen(function* () {
    const store = yield* Store
    const seed = (yield* Seed) ?? (yield* Random.nextIntBetween(0, 2 ** 31))
    const now = yield* Effect.sync(() => `${Date.now().toString(36)}-${cases++}`)
    const same: Case["same"] = (actual, expected) =>
      Inspectable.toStringUnknown(actual) === Inspectable.toStringUnknown(expected)
        ? Effect.void
        : new StoreLawViolation({ law: name, expected, actual, seed })
    const refused: Case["refused"] = (effect, tag) =>
      Effect.flatMap(Effect.either(effect), (result) => {
        const error = Either.isLeft(result) ? result.left : undefined
        const actual = error instanceof Object && "_tag" in error ? error._tag : (error ?? "a success")
        return same(actual, tag)
      })
    const collection = store.collection(`law-${now}`)
    const fields = FastCheck.sample(StoreArbitrary.fields, { numRuns: 8, seed })
    yield* body({ store, collection, fields, same, refused })
  }).pipe(Effect.withSpan(`StoreLaws.${name}`))
})

const read = (collection: Collection, id: string) => Effect.map(collection.get(id), Option.getOrNull)

const shape = (document: StoredDocument | null) =>
  document === null ? null : [document._rev, canonical(fieldsOf(document))]

const wanted = (rev: number, fields: JsonObject) => [rev, canonical(fields)]

/** What is written comes back, with its id, revision 1 and times. */
export const roundTrip = law("what is inserted is what is read", ({ collection, fields, same }) =>
  Effect.forEach(fields, (given) =>
    Effect.gen(function* () {
      const id = yield* collection.insert(given)
      const found = yield* read(collection, id)
      yield* same(shape(found), wanted(1, given))
      yield* same(found?._id, id)
      yield* same(Number.isNaN(Date.parse(found?._created_at ?? "")), false)
      yield* same(yield* collection.exists(id), true)
    })
  )
)

/** `update` and `upsert` merge at the top level, `replace` overwrites; the revision rises by one each time. */
export const revisions = law(
  "every write of a document raises its revision by one",
  ({ collection, fields, same }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}, c = {}] = fields
      const id = yield* collection.insert(a)
      const first = yield* read(collection, id)
      yield* same(shape(yield* collection.update(id, b)), wanted(2, { ...a, ...b }))
      yield* same(shape(yield* collection.replace(id, c)), wanted(3, c))
      const last = yield* collection.upsert(id, a)
      yield* same(shape(last), wanted(4, { ...c, ...a }))
      yield* same(yield* read(collection, id), last)
      yield* same(last._created_at, first?._created_at)
      yield* same(shape(yield* collection.upsert("new", b)), wanted(1, b))
    })
)

/** A refused write leaves the document as it was. */
export const refusals = law("a refused write changes nothing", ({ collection, fields, refused, same }) =>
  Effect.gen(function* () {
    const [a = {}, b = {}] = fields
    yield* collection.insert(a, { id: "a" })
    const before = yield* read(collection, "a")
    yield* refused(collection.insert(b, { id: "a" }), "ConflictError")
    yield* refused(collection.update("a", b, { expectedRev: 2 }), "ConflictError")
    yield* refused(collection.replace("a", b, { expectedRev: 0 }), "ConflictError")
    yield* refused(collection.delete("a", { expectedRev: 7 }), "ConflictError")
    yield* refused(collection.upsert("b", b, { expectedRev: 1 }), "ConflictError")
    yield* refused(collection.update("b", b), "NotFoundError")
    yield* refused(collection.replace("b", b), "NotFoundError")
    yield* refused(collection.delete("b"), "NotFoundError")
    yield* refused(collection.insert(a, { id: "../b" }), "ValidationError")
    yield* same(yield* read(collection, "a"), before)
    yield* same(yield* collection.list(), ["a"])
    yield* collection.delete("a", { expectedRev: 1 })
    yield* same(yield* read(collection, "a"), null)
    yield* same(yield* collection.count, 0)
  })
)

/** Lists, pages, streams and counts tell of the same documents, in order of id. */
export const listings = law(
  "every listing shows the same documents in order",
  ({ collection, same, store }) =>
    Effect.gen(function* () {
      const ids = ["b", "B", "a.1", "a-1", "z", "10", "9", "A"]
      yield* store.batch({}, (batch) => Effect.forEach(ids, (id, n) => batch.put(collection.name, id, { n })))
      const sorted = [...ids].sort()
      yield* same(yield* collection.list(), sorted)
      yield* same(yield* collection.count, ids.length)
      yield* same(yield* collection.list({ limit: 3, after: sorted[1] }), sorted.slice(2, 5))
      const all = Chunk.toReadonlyArray(yield* Stream.runCollect(collection.all()))
      yield* same(
        all.map(({ _id }) => _id),
        sorted
      )
      const pages = Chunk.toReadonlyArray(yield* Stream.runCollect(collection.pages({ size: 4 })))
      yield* same(
        pages.map(({ cursor, documents }) => [documents.length, cursor]),
        [
          [4, sorted[3]],
          [4, null]
        ]
      )
      yield* same((yield* store.collections).includes(collection.name), true)
    })
)

/** `findBy` finds what a scan of all documents finds. */
export const finding = law("findBy and a scan agree", ({ collection, fields, same, store }) =>
  Effect.gen(function* () {
    const values = [1, "1", null, true, [1, "x"], [], { a: 1 }, 1.5]
    yield* store.batch({}, (batch) =>
      Effect.forEach(values, (value, n) =>
        batch.insert(collection.name, { ...fields[n % fields.length], value })
      )
    )
    for (const value of [1, "1", null, true, "x", 2, { a: 1 }, 1.5]) {
      const scanned = yield* Stream.runCollect(
        collection.find((document) => matches(document, "value", value))
      )
      const found = yield* collection.findBy("value", value)
      yield* same(
        found.map(({ _id }) => _id),
        Array.from(scanned, ({ _id }) => _id)
      )
    }
  })
)

/** A batch is one commit, or nothing. */
export const batches = law("a batch is atomic", ({ collection, fields, refused, same, store }) =>
  Effect.gen(function* () {
    const [a = {}, b = {}] = fields
    const { name } = collection
    yield* collection.insert(a, { id: "kept" })
    const { commitSha } = yield* store.batch({}, (batch) =>
      Effect.all([batch.put(name, "one", a), batch.put(name, "two", a), batch.put(name, "two", b)])
    )
    const view = yield* store.at(Option.getOrElse(commitSha, () => "none"))
    yield* same(yield* view.collection(name).list(), ["kept", "one", "two"])
    yield* same(shape(yield* read(collection, "two")), wanted(1, b))
    const missing = store.batch({}, (batch) =>
      Effect.zipRight(batch.put(name, "one", b), batch.delete(name, "missing"))
    )
    yield* refused(missing, "NotFoundError")
    const stale = store.batch({}, (batch) =>
      Effect.zipRight(batch.put(name, "one", b), batch.expect(name, "kept", { rev: 9 }))
    )
    yield* refused(stale, "ConflictError")
    const failed = store.batch({}, (batch) => Effect.zipRight(batch.put(name, "one", b), new Refusal()))
    yield* refused(failed, "Refusal")
    yield* same(shape(yield* read(collection, "one")), wanted(1, a))
    const empty = yield* store.batch({}, (batch) =>
      Effect.zipRight(batch.put(name, "gone", a), batch.delete(name, "gone"))
    )
    yield* same(Option.isNone(empty.commitSha), true)
  })
)

/** A writer's end makes all of it durable, in few commits. */
export const writers = law("a writer's operations are durable at its end", ({ collection, same, store }) =>
  Effect.gen(function* () {
    const { commits } = yield* store.writer({ maxOperations: 5 }, (writer) =>
      Effect.forEach(Array.from({ length: 12 }), (_, n) => writer.put(collection.name, `n${n}`, { n }), {
        concurrency: 4,
        discard: true
      })
    )
    yield* same(yield* collection.count, 12)
    yield* same(commits.length, 3)
  })
)

/** A transaction is seen as a whole or not at all, and leaves no branch. */
export const transactions = law(
  "a transaction appears at once, or not",
  ({ collection, refused, same, store }) =>
    Effect.gen(function* () {
      const { name } = collection
      yield* collection.insert({ n: 0 }, { id: "a" })
      yield* store.transaction({}, (tx) =>
        Effect.gen(function* () {
          yield* tx.collection(name).update("a", { n: 1 })
          yield* tx.collection(name).insert({ n: 2 }, { id: "b" })
          yield* same(yield* tx.collection(name).list(), ["a", "b"])
          yield* same(shape(yield* read(collection, "a")), wanted(1, { n: 0 }))
        })
      )
      yield* same(shape(yield* read(collection, "a")), wanted(2, { n: 1 }))
      const failing = store.transaction({}, (tx) =>
        Effect.zipRight(tx.collection(name).delete("b"), new Refusal())
      )
      yield* refused(failing, "Refusal")
      yield* same(yield* collection.list(), ["a", "b"])
      const clash = store.transaction({}, (tx) =>
        Effect.zipRight(tx.collection(name).update("a", { n: 3 }), collection.update("a", { n: 4 }))
      )
      const conflict = yield* Effect.flip(clash)
      yield* same("branch" in conflict, true)
      if ("branch" in conflict) yield* store.removeTransaction(conflict.branch ?? "")
      yield* same(shape(yield* read(collection, "a")), wanted(3, { n: 4 }))
    })
)

/** History, restore, revert and views look back without changing what was. */
export const travel = law(
  "what was can be seen, restored and reverted",
  ({ collection, fields, same, store }) =>
    Effect.gen(function* () {
      const [a = {}, b = {}] = fields
      yield* collection.insert(a, { id: "a" })
      const before = yield* store.snapshot
      const { commitSha } = yield* store.batch({}, (batch) => batch.put(collection.name, "a", b))
      yield* same(shape(Option.getOrNull(yield* before.collection(collection.name).get("a"))), wanted(1, a))
      const history = yield* collection.history("a")
      yield* same(history.length, 2)
      yield* store.revert(Option.getOrElse(commitSha, () => "none"))
      yield* same(shape(yield* read(collection, "a")), wanted(3, a))
      yield* same(shape(yield* collection.restore("a", history[0]?.sha ?? "none")), wanted(4, b))
      yield* same((yield* collection.history("a")).length, 4)
      yield* same((yield* collection.history("a", { limit: 2 })).length, 2)
    })
)

/** Writers that compare and set lose nothing. */
export const counting = law("concurrent compare-and-set counts exactly", ({ collection, same }) =>
  Effect.gen(function* () {
    yield* collection.insert({ n: 0 }, { id: "counter" })
    const step = Effect.gen(function* () {
      const current = yield* Effect.flatten(collection.get("counter", { fresh: true }))
      yield* collection.update("counter", { n: Number(current["n"]) + 1 }, { expectedRev: current._rev })
    })
    const patiently = Effect.retry(step, {
      times: 200,
      while: (error) => error._tag === "ConflictError"
    })
    yield* Effect.forEach(Array.from({ length: 8 }), () => patiently, { concurrency: 4, discard: true })
    yield* same(shape(yield* read(collection, "counter")), wanted(9, { n: 8 }))
  })
)

/** What is handed out is the caller's own. */
export const ownership = law("changing what was read changes nothing stored", ({ collection, same }) =>
  Effect.gen(function* () {
    yield* collection.insert({ list: [1], deep: { n: 1 } }, { id: "a" })
    const found = (yield* Effect.flatten(collection.get("a"))) as unknown as {
      list: Array<number>
      deep: { n: number }
    }
    yield* Effect.sync(() => {
      found.list.push(2)
      found.deep.n = 2
    })
    yield* same(shape(yield* read(collection, "a")), wanted(1, { list: [1], deep: { n: 1 } }))
  })
)

/** Every law of a store: run each with a layer of your own. */
export const all: ReadonlyArray<StoreLaw> = [
  roundTrip,
  revisions,
  refusals,
  listings,
  finding,
  batches,
  writers,
  transactions,
  travel,
  counting,
  ownership
]
