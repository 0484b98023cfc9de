import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { isUniqueViolation } from "../../../src/domain/errors/StoreError.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { derivedProblems } from "../../../src/testing/history/DerivedCheck.js"
import { readHistory } from "../../../src/testing/history/HistoryReader.js"
import { hosted, remotes } from "./Remotes.js"

const open = (options: StoreOptions = {}) =>
  Effect.map(Store.make(options), (store) => ({ store, people: store.collection("people") }))

const cities = ["Oslo", "Rome", "Bern"]

const fill = (store: StoreService, count = 9) =>
  store.batch({}, (batch) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => batch.put("people", `p${n}`, { city: cities[n % 3]!, age: n, mail: `${n}@example.org` }),
      { discard: true }
    )
  )

const filesOf = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data", { recursive: true }))
    return tree.entries.map(({ path }) => path).filter((path) => path.startsWith("_"))
  })

const byHand = (remote: GitRemoteService, files: Readonly<Record<string, string>>) =>
  Effect.flatMap(remote.head("main"), (head) =>
    remote.commit("main", head, {
      message: "by another program",
      changes: Object.entries(files).map(([path, text]) => ({
        _tag: "Put" as const,
        path,
        content: new TextEncoder().encode(text)
      }))
    })
  )

/** The newest commit's indexes equal what its documents say. */
const agrees = (remote: GitRemoteService, store: StoreService, indexes: StoreOptions["indexes"]) =>
  Effect.gen(function* () {
    const history = yield* readHistory(remote, "main", "data")
    assert.deepStrictEqual(
      derivedProblems(history[history.length - 1]!, "people", { indexes: indexes!, manifests: {} }),
      []
    )
    const found = yield* store.doctorWith({ deep: true })
    assert.deepStrictEqual(
      found.filter(({ code, severity }) => severity !== "ok" && /^(index|manifest|settings)/.test(code)),
      []
    )
  })

const names = (store: StoreService) =>
  Effect.map(store.indexes, (all) =>
    all.map(({ collection, current, name, rows }) => [collection, name, rows, current])
  )

describe.each([...remotes, ...hosted])("changes of indexes on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "an index is created with its rows in one commit, and every client maintains it",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open()
      yield* fill(store)
      const other = yield* open()
      yield* other.people.insert({ city: "Rome", age: 40 }, { id: "early" })
      const before = yield* store.commitSha
      const read: Array<number> = []

      const commit = yield* people.createIndex("city", {
        onProgress: ({ documents, total }) => Effect.sync(() => read.push(documents, total))
      })

      assert.deepStrictEqual(commit, yield* store.commitSha)
      const created = Option.getOrThrow(yield* store.resolveRef("main~1"))
      assert.deepStrictEqual(Option.some(created), before)
      assert.deepStrictEqual(read.slice(-2), [10, 10])
      assert.deepStrictEqual(yield* names(store), [["people", "city", 10, true]])
      assert.strictEqual((yield* people.explain("city", "Rome")).source, "index")
      assert.deepStrictEqual(
        (yield* people.findBy("city", "Rome")).map(({ _id }) => _id),
        ["early", "p1", "p4", "p7"]
      )
      assert.isTrue(Option.isNone(yield* people.createIndex("city")))

      yield* other.people.insert({ city: "Rome", age: 41 }, { id: "late" })
      yield* other.people.update("p1", { city: "Oslo" })
      assert.deepStrictEqual(
        (yield* people.findBy("city", "Rome")).map(({ _id }) => _id),
        ["early", "late", "p4", "p7"]
      )
      yield* agrees(remote, store, { people: ["city"] })
    })
  )

  test(
    "an index is dropped with its files, and its name is free for another definition",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      for (const format of [1, 2] as const) {
        const { people, store } = yield* open()
        yield* fill(store)
        yield* people.createIndex("city")
        yield* people.createIndex("age")
        if (format === 2) yield* store.reindex({ format })
        const commit = yield* people.dropIndex("city")
        assert.strictEqual(commit, Option.getOrThrow(yield* store.commitSha))
        assert.deepStrictEqual(yield* names(store), [["people", "age", 9, true]])
        assert.deepStrictEqual(
          (yield* filesOf(remote)).filter((path) => path.includes("people/city")),
          []
        )
        assert.strictEqual((yield* people.explain("city", "Rome")).source, "scan")
        assert.strictEqual((yield* people.findBy("city", "Rome")).length, 3)
        yield* agrees(remote, store, { people: ["age"] })
        yield* people.createIndex(
          format === 1 ? { name: "city", fields: ["mail"] } : { name: "city", fields: ["mail", "age"] }
        )
        yield* people.insert({ city: "Rome", mail: "new@example.org" }, { id: `new${format}` })
        const found = yield* people.query({ where: { mail: "new@example.org" }, explain: true })
        assert.deepStrictEqual(
          [found.documents.map(({ _id }) => _id), found.explanation.source],
          [[`new${format}`], "index"]
        )
        assert.strictEqual((yield* people.findBy("city", "Rome")).length, 4)
        yield* people.delete(`new${format}`)
        yield* people.dropIndex("city")
        yield* people.dropIndex("age")
        assert.deepStrictEqual(yield* filesOf(remote), ["_chainstore.json"])
      }
    })
  )

  test(
    "a unique index is created only over documents that satisfy it, and then binds every client",
    Effect.gen(function* () {
      const { people, store } = yield* open()
      yield* fill(store)
      yield* people.insert({ mail: "0@example.org" }, { id: "twin" })
      const before = yield* store.commitSha
      const refused = yield* Effect.flip(people.createIndex({ fields: ["mail"], unique: true }))
      assert.isTrue(isUniqueViolation(refused))
      assert.deepStrictEqual([yield* store.commitSha, yield* names(store)], [before, []])
      yield* people.delete("twin")
      const other = yield* open()
      assert.strictEqual(yield* other.people.count, 9)
      assert.isTrue(Option.isSome(yield* people.createIndex({ fields: ["mail"], unique: true })))
      const twin = yield* Effect.flip(other.people.insert({ mail: "0@example.org" }))
      assert.isTrue(isUniqueViolation(twin))
      assert.strictEqual(yield* people.count, 9)
    })
  )

  test(
    "what cannot be created or dropped is refused, and nothing is written",
    Effect.gen(function* () {
      const { people, store } = yield* open()
      yield* fill(store)
      yield* people.createIndex("city")
      const before = yield* store.commitSha
      const refused = (effect: Effect.Effect<unknown, { readonly _tag: string; readonly message: string }>) =>
        Effect.map(Effect.flip(effect), ({ _tag, message }) => `${_tag}: ${message}`)
      const optioned = (yield* open({ indexes: { people: ["city"] } })).people
      const reading = (yield* open({ readOnly: true })).people
      assert.deepStrictEqual(
        yield* Effect.all([
          refused(people.createIndex({ name: "city", fields: ["town"] })),
          refused(people.createIndex({ fields: ["age", "city"] })),
          refused(people.createIndex({ fields: [] })),
          refused(people.createIndex(7 as never)),
          refused(people.dropIndex("age")),
          refused(store.collection("_x").createIndex("a")),
          refused(optioned.createIndex("age")),
          refused(optioned.dropIndex("city")),
          refused(reading.createIndex("age")),
          refused(store.transaction({}, (tx) => Effect.asVoid(tx.collection("people").createIndex("age")))),
          refused(store.transaction({}, (tx) => Effect.asVoid(tx.collection("people").dropIndex("city"))))
        ]),
        [
          "ValidationError: people has an index city with another definition",
          "ValidationError: format 1 cannot hold the index age_city of people: one file holds one ascending field of all documents",
          'ValidationError: the index of people: fields is a list of at least one field, such as ["city"]',
          "ValidationError: the index of people: an indexed field's name is text",
          "NotFoundError: people has no index age",
          "ValidationError: collection \"_x\": a collection's name is made of letters, digits, '.', '_' and '-', and starts with a letter or digit",
          ...[1, 2].map(
            () =>
              "ValidationError: the store was opened with the option indexes, which must equal the recorded indexes"
          ),
          "AuthError: this store was opened for reading",
          ...[1, 2].map(
            () => "ValidationError: a transaction contains documents only: it cannot change an index"
          )
        ]
      )
      assert.deepStrictEqual(yield* store.commitSha, before)
    })
  )

  test(
    "indexes of another program become part of the settings",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open()
      yield* fill(store)
      yield* byHand(remote, {
        "data/_index/people/city.json": "{}\n",
        "data/_index/towns/name.json": "{}\n",
        "data/towns/a.json": "{}\n"
      })
      yield* people.createIndex("age")
      assert.deepStrictEqual(
        (yield* names(store)).map(([collection, name]) => `${collection}/${name}`),
        ["people/age", "people/city", "towns/name"]
      )
      assert.strictEqual((yield* people.explain("city", "Rome")).source, "index")
      assert.strictEqual((yield* people.findBy("city", "Rome")).length, 3)
    })
  )

  test(
    "a store of format 2 that has not written yet records the new index with its own settings",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const plain = yield* open()
      yield* fill(plain.store)
      yield* byHand(remote, { "data/_index/people/city.json": "{}\n" })
      const { people, store } = yield* open({ format: 2 })
      yield* people.createIndex({ fields: ["city", { field: "age", order: "desc" }] })
      assert.deepStrictEqual(yield* names(store), [
        ["people", "city", 9, true],
        ["people", "city_age", 9, true]
      ])
      assert.isFalse((yield* filesOf(remote)).includes("_index/people/city.json"))
      yield* agrees(remote, store, {
        people: ["city", { fields: ["city", { field: "age", order: "desc" }] }]
      })
    })
  )

  test(
    "many clients create and drop indexes while others write",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { store } = yield* open()
      yield* fill(store)
      const one = yield* open()
      const two = yield* open()
      const three = yield* open()
      yield* one.people.createIndex("mail")
      yield* Effect.all(
        [
          one.people.createIndex("city"),
          two.people.createIndex("age"),
          three.people.dropIndex("mail"),
          Effect.forEach([1, 2, 3, 4], (n) => two.people.insert({ city: "Rome", age: n }, { id: `n${n}` })),
          Effect.forEach([5, 6, 7, 8], (n) => three.people.insert({ city: "Bern", age: n }, { id: `n${n}` }))
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* names(store), [
        ["people", "age", 17, true],
        ["people", "city", 17, true]
      ])
      yield* agrees(remote, store, { people: ["age", "city"] })
    })
  )

  test(
    "a preview shows the files of an index, and writes nothing",
    Effect.gen(function* () {
      const { store } = yield* open()
      yield* fill(store)
      const before = yield* store.commitSha
      const shown = yield* store.preview((dry) => dry.collection("people").createIndex("city"))
      assert.deepStrictEqual(
        Option.getOrThrow(shown).changes.map(({ path }) => path),
        ["data/_index/people/city.json", "data/_chainstore.json"]
      )
      assert.deepStrictEqual(yield* store.commitSha, before)
    })
  )
})
