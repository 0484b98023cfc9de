import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Option } from "effect"
import { ConflictError } from "../../../src/domain/errors/StoreError.js"
import { settingsFileName } from "../../../src/domain/settings/Settings.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { derivedProblems, uniqueProblems } from "../../../src/testing/history/DerivedCheck.js"
import { readHistory } from "../../../src/testing/history/HistoryReader.js"
import { idsOf } from "../../support/documents.js"
import { hosted, remotes, repositories } from "./Remotes.js"

const mail = { fields: ["mail"], unique: true } as const
const unique = { people: [mail] }

const open = (options: StoreOptions = {}) =>
  Effect.map(Store.make(options), (store) => ({ store, people: store.collection("people") }))

const byHand = (remote: GitRemoteService, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(remote.head("main"), (head) => remote.commit("main", head, { message: "by hand", changes }))

const put = (path: string, content: object): Change => ({
  _tag: "Put",
  path: `data/${path}.json`,
  content: new TextEncoder().encode(JSON.stringify(content))
})

/** The violations of a write that is refused because of them. */
const refused = <A, E>(write: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(write), (error) => {
    assert.instanceOf(error, ConflictError)
    assert.strictEqual(error.reason, "UniqueViolation", error.message)
    return (error.violations ?? []).map(({ id, other, value }) => [id, value, other])
  })

/** Every commit's indexes equal a rebuild of its documents. */
const agrees = (
  remote: GitRemoteService,
  indexes: Parameters<typeof derivedProblems>[2]["indexes"] = unique
) =>
  Effect.gen(function* () {
    for (const snapshot of yield* readHistory(remote, "main", "data")) {
      assert.deepStrictEqual(derivedProblems(snapshot, "people", { indexes, manifests: {} }), [])
      assert.deepStrictEqual(uniqueProblems(snapshot, "people", { indexes }), [])
    }
  })

const doubles = (store: StoreService) =>
  Effect.map(store.doctorWith({ deep: true }), (found) =>
    found.filter(({ code }) => code === "unique-violation").map(({ ids }) => ids)
  )

/** Each remote with one of the formats: which files hold the index does not depend on the remote. */
const formats = [...remotes, ...hosted].map(([name, layer], at) => {
  const format = ([1, 2, 2, 1] as const)[at]!
  return [`${name}, format ${format}`, format, layer] as const
})

describe.each(formats)("a unique index on %s", (_name, format, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "refuses a value that another document has, whatever writes it",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open({ format, indexes: unique })
      yield* people.insert({ mail: "a" }, { id: "ada" })
      const old = Option.getOrThrow(yield* remote.head("main")).commit
      yield* people.insert({ mail: ["b", 1] }, { id: "bob" })
      const failed = yield* Effect.flip(people.insert({ mail: "a" }, { id: "cleo" }))
      assert.instanceOf(failed, ConflictError)
      assert.deepStrictEqual(failed.violations, [
        { collection: "people", index: "mail", value: "a", id: "cleo", other: "ada" }
      ])
      assert.include(failed.message, 'people/cleo would have the value "a" of the unique index mail')
      const [other] = failed.conflicts
      assert.deepStrictEqual([other?.id, other?.actual?.rev], ["ada", 1])

      // Another kind of value, what is missing, null and empty collides with nothing.
      for (const value of ["1", null, null, [], [], undefined, undefined, ["x", "x"], "c"]) {
        yield* people.insert({ mail: value as never })
      }
      yield* people.update("ada", { n: 1 })
      assert.deepStrictEqual(yield* refused(people.update("ada", { mail: 1 })), [["ada", 1, "bob"]])
      assert.deepStrictEqual(yield* refused(people.upsert("dan", { mail: ["z", "b"] })), [
        ["dan", "b", "bob"]
      ])
      assert.deepStrictEqual(yield* refused(people.replace("bob", { mail: "a" })), [["bob", "a", "ada"]])
      assert.deepStrictEqual(
        yield* refused(store.preview((dry) => dry.collection("people").insert({ mail: "a" }, { id: "eve" }))),
        [["eve", "a", "ada"]]
      )
      // A batch is judged at its end: values can be swapped.
      const swap = (ada: string, bob: string) =>
        store.batch({}, (batch) =>
          Effect.zipRight(
            batch.put("people", "ada", { mail: ada }),
            batch.put("people", "bob", { mail: bob })
          )
        )
      yield* swap("b", "a")
      assert.deepStrictEqual(yield* refused(swap("q", "q")), [["bob", "q", "ada"]])
      const failure = yield* Effect.flip(
        people.importRecords([
          { _id: "new", mail: "new" },
          { _id: "x", mail: "b" }
        ])
      )
      assert.match(
        (failure as Error).message,
        /^row 2 cannot be imported: people\/x would have the value "b"/
      )
      const said: Array<unknown> = []
      const rows = ["d1 free", "d2 b", "ada late", "bob a", "d3 late"].map((row) => {
        const [_id, mail] = row.split(" ")
        return { _id, mail }
      })
      yield* people.importRecords(rows, {
        dryRun: true,
        chunkSize: 4,
        onRow: ({ action, reason, row }) =>
          Effect.sync(() => said.push([row, action, reason?.replace(/^.*, which/, "")]))
      })
      assert.deepStrictEqual(said, [
        [1, "insert", undefined],
        [2, "insert", undefined],
        [3, "replace", undefined],
        [4, "unchanged", undefined],
        [5, "refuse", " people/ada has"]
      ])
      const [double] = yield* Effect.map(
        people.importRecords([{ _id: "e", mail: "a" }], { dryRun: true }),
        ({ refused }) => [refused]
      )
      assert.strictEqual(double, 1)
      assert.deepStrictEqual(yield* refused(people.restore("ada", old)), [["ada", "a", "bob"]])
      yield* people.delete("bob")
      yield* people.restore("ada", old)
      const deleted = Option.getOrThrow(yield* remote.head("main")).commit
      yield* people.insert({ mail: "b" }, { id: "fay" })
      assert.deepStrictEqual(yield* refused(store.revert(deleted)), [["ada", "b", "fay"]])
      yield* agrees(remote)
    })
  )

  test(
    "finds what others wrote against it, lists it, and refuses only more of it",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open({ format, indexes: unique })
      yield* people.insert({ mail: "a" }, { id: "ada" })
      yield* byHand(remote, put("people/bob", { mail: "a" }), put("people/cleo", { mail: "c" }))
      assert.deepStrictEqual(idsOf(yield* people.findBy("mail", "a")), ["ada", "bob"])
      assert.deepStrictEqual(yield* refused(people.insert({ mail: "c" }, { id: "dan" })), [
        ["dan", "c", "cleo"]
      ])
      yield* people.insert({ mail: "d" }, { id: "dan" })
      yield* people.update("bob", { n: 1 })
      assert.deepStrictEqual(yield* refused(people.update("dan", { mail: "a" })), [["dan", "a", "ada"]])
      assert.deepStrictEqual(yield* doubles(store), [["ada", "bob"]])
      // Making the index anew would vouch for it.
      assert.deepStrictEqual(yield* refused(people.reindex()), [["bob", "a", "ada"]])
      yield* people.update("bob", { mail: "b" })
      assert.deepStrictEqual(yield* doubles(store), [])
      yield* people.reindex()
    })
  )

  test(
    "is not begun over documents that break it: they are listed, and nothing changes",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const plain = yield* open()
      for (const n of [1, 2, 3]) yield* plain.people.insert({ mail: "a" }, { id: `p${n}` })
      const head = yield* remote.head("main")
      const { people, store } = yield* open({ format, indexes: unique })
      const all = [
        ["p2", "a", "p1"],
        ["p3", "a", "p1"]
      ]
      assert.deepStrictEqual(yield* refused(store.collection("other").insert({})), all)
      assert.deepStrictEqual(yield* refused(people.reindex()), all)
      assert.deepStrictEqual(yield* remote.head("main"), head)
      yield* byHand(remote, put(settingsFileName.replace(".json", ""), { format, indexes: unique }))
      const there = yield* remote.head("main")
      assert.deepStrictEqual(yield* refused(store.reindex()), all)
      assert.deepStrictEqual(yield* remote.head("main"), there)
      yield* people.update("p2", { mail: "b" })
      yield* people.delete("p3")
      yield* store.reindex()
      assert.deepStrictEqual(yield* refused(people.update("p2", { mail: "a" })), [["p2", "a", "p1"]])
    })
  )

  test(
    "lets one of two transactions have a value, and keeps the commits of the other",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { store } = yield* open({ format, indexes: unique })
      const failed = yield* Effect.flip(
        store.transaction({}, (tx) =>
          Effect.gen(function* () {
            yield* tx.collection("people").insert({ mail: "a" }, { id: "ada" })
            yield* store.transaction({}, (other) =>
              other.collection("people").insert({ mail: "a" }, { id: "bob" })
            )
          })
        )
      )
      assert.instanceOf(failed, ConflictError)
      assert.strictEqual(failed.reason, "UniqueViolation")
      assert.include(failed.message, "people/bob has")
      const kept = yield* (yield* open({ branch: failed.branch! })).people.list()
      assert.deepStrictEqual(kept, ["ada"])
      assert.deepStrictEqual(yield* store.collection("people").list(), ["bob"])

      // Who has a value was read, also where the transaction goes on without it.
      const moved = yield* Effect.flip(
        store.transaction({}, (tx) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(
              yield* refused(tx.collection("people").insert({ mail: "a" }, { id: "cleo" })),
              [["cleo", "a", "bob"]]
            )
            yield* store.collection("people").update("bob", { mail: "b" })
            yield* tx.collection("people").insert({ mail: "c" }, { id: "cleo" })
          })
        )
      )
      assert.instanceOf(moved, ConflictError)
      assert.deepStrictEqual(
        moved.conflicts.map(({ id }) => id),
        ["bob"]
      )
      yield* agrees(remote)
    })
  )

  test(
    "lets one of many writers have a value, in one process and beside another",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const stores = [yield* open({ format, indexes: unique }), yield* open({ format, indexes: unique })]
      yield* stores[0]!.people.insert({ mail: "first" })
      const tried = yield* Effect.forEach(
        Array.from({ length: 16 }, (_, n) => n),
        (n) => Effect.either(stores[n % 2]!.people.insert({ mail: "a" }, { id: `p${n}` })),
        { concurrency: "unbounded" }
      )
      const won = tried.flatMap((one) => (Either.isRight(one) ? [one.right] : []))
      assert.strictEqual(won.length, 1)
      for (const one of tried) {
        if (Either.isRight(one)) continue
        assert.strictEqual((one.left as ConflictError).violations?.[0]?.other, won[0], one.left.message)
      }
      assert.deepStrictEqual(idsOf(yield* stores[1]!.people.findBy("mail", "a")), won)
      yield* agrees(remote)
    })
  )
})

describe("large and many indexes", () => {
  for (const format of [1, 2] as const) {
    it.live(`take values of 10 kB, and three thousand documents with one value, in format ${format}`, () =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const { people } = yield* open({ format, indexes: unique })
        const long = (end: string) => "long ".repeat(2000) + end
        yield* people.insert({ mail: long("a") }, { id: "ada" })
        yield* people.insert({ mail: long("b") }, { id: "bob" })
        const failed = yield* Effect.flip(people.update("ada", { mail: long("b") }))
        assert.strictEqual((failed as ConflictError).violations?.[0]?.other, "bob")
        assert.isBelow(failed.message.length, 300)
        // Other programs wrote them: the key is held by many, and others are free.
        const changes = Array.from({ length: 3000 }, (_, n) => put(`people/p${n}`, { mail: "same" }))
        yield* byHand(remote, ...changes)
        yield* people.insert({ mail: "other" })
        assert.deepStrictEqual(yield* refused(people.insert({ mail: "same" }, { id: "new" })), [
          ["new", "same", "p0"]
        ])
        const again = (yield* Effect.flip(people.reindex())) as ConflictError
        assert.match(again.message, /; and 2996 more$/)
        assert.deepStrictEqual([again.violations?.length, again.conflicts.length], [20, 1])
        assert.strictEqual((yield* people.findBy("mail", "same", { limit: 5 })).length, 5)
      }).pipe(Effect.provide(Layer.fresh(remotes[0]![1])))
    )
  }

  it.live("are kept fifty to a collection", () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const fields = Array.from({ length: 50 }, (_, n) => `f${n}`)
      const indexes = {
        people: fields.map((field) => ({ fields: [field, "city"], unique: true, name: field }))
      }
      const { people } = yield* open({ format: 2, indexes })
      const document = (of: string) => Object.fromEntries(fields.map((field) => [field, `${field} ${of}`]))
      yield* people.insert({ ...document("a"), city: "Oslo" }, { id: "a" })
      yield* people.insert({ ...document("a"), city: "Rome" }, { id: "b" })
      const failed = (yield* Effect.flip(people.update("b", { city: "Oslo" }))) as ConflictError
      assert.match(failed.message, /; and 47 more$/)
      assert.deepStrictEqual(failed.violations?.[0], {
        collection: "people",
        index: "f0",
        value: { f0: "f0 a", city: "Oslo" },
        id: "b",
        other: "a"
      })
      yield* agrees(remote, indexes)
    }).pipe(Effect.provide(Layer.fresh(remotes[0]![1])))
  )
})

describe.each(repositories)("a unique index that began meanwhile, on %s", (_name, repository) => {
  it.live("is kept by a client that believes the repository to have none", () =>
    Effect.gen(function* () {
      const client = yield* repository
      const [one, other] = [yield* client, yield* client]
      const { people } = yield* Effect.provideService(open(), GitRemote, one)
      yield* people.insert({ mail: "a" }, { id: "ada" })
      yield* people.delete("ada")
      const indexed = yield* Effect.provideService(open({ indexes: unique }), GitRemote, other)
      yield* indexed.people.insert({ mail: "a" }, { id: "ada" })
      assert.deepStrictEqual(yield* refused(people.insert({ mail: "a" }, { id: "bob" })), [
        ["bob", "a", "ada"]
      ])
      yield* people.insert({ mail: "b" }, { id: "bob" })
      yield* indexed.store.invalidate()
      assert.deepStrictEqual(idsOf(yield* indexed.people.findBy("mail", "a")), ["ada"])
      assert.deepStrictEqual(idsOf(yield* indexed.people.findBy("mail", "b")), ["bob"])
    }).pipe(Effect.scoped)
  )
})
