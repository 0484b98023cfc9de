import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import type { Json } from "../../../src/domain/json/Json.js"
import { fieldMatches } from "../../../src/domain/json/JsonEquality.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { file, foreignCommit, foundIds } from "./ForeignCommit.js"
import { remotes } from "./Remotes.js"

const indexed: StoreOptions = { format: 2, indexes: { people: ["city"] } }

const settingsOf = (layout: StoreOptions): Change => file("_chainstore.json", { ...indexed, ...layout })
const gone = (path: string): Change => ({ _tag: "Remove", path: `data/${path}` })

const scanned = (store: StoreService, value: Json, field = "city") =>
  Effect.gen(function* () {
    const all = yield* Stream.runCollect(
      store
        .collection("people")
        .find((document) => Object.hasOwn(document, field) && fieldMatches(document[field], value), {
          onInvalid: "skip"
        })
    )
    return Array.from(all, ({ _id }) => _id)
  })

const paths = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data", { recursive: true }))
    return tree.entries.map(({ path }) => path)
  })

const deepProblems = (store: StoreService) =>
  Effect.map(store.doctorWith({ deep: true }), (findings) =>
    findings
      .filter(({ code, severity }) => severity !== "ok" && /^(index|manifest)-/.test(code))
      .map(({ code, message }) => `${code} ${message}`)
  )

describe.each(remotes)("indexes as trees, in odd repositories, on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "findBy equals a scan if a document is in another shard and the index is outdated",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make({ ...indexed, shardBy: "hash", shardDepth: 1, shardWidth: 2 })
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      yield* foreignCommit(remote, file("people/00/abc.json", { city: "Rome" }))
      yield* people.insert({ city: "Bern" }, { id: "bob" })
      assert.deepStrictEqual(yield* scanned(store, "Rome"), ["abc", "ada"])
      assert.deepStrictEqual(yield* foundIds(store, "Rome"), ["abc", "ada"])
      const bob = (yield* paths(remote)).find((path) => path.endsWith("bob.json"))!
      yield* foreignCommit(remote, file(bob, { city: "Oslo" }))
      assert.deepStrictEqual(yield* scanned(store, "Rome"), ["abc", "ada"])
      assert.deepStrictEqual(yield* foundIds(store, "Rome"), ["abc", "ada"])
    })
  )

  test(
    "findBy equals a scan if a document with a copy in another shard is removed",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make({ ...indexed, shardBy: "hash", shardDepth: 1, shardWidth: 2 })
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      yield* people.insert({ city: "Bern" }, { id: "bob" })
      yield* foreignCommit(remote, file("people/00/ada.json", { city: "Rome" }))
      yield* people.insert({ city: "Bern" }, { id: "cleo" })
      const ada = (yield* paths(remote)).find(
        (path) => path.endsWith("ada.json") && !path.startsWith("people/00")
      )!
      yield* foreignCommit(remote, gone(ada))
      assert.deepStrictEqual(yield* scanned(store, "Rome"), ["ada"])
      assert.deepStrictEqual(yield* foundIds(store, "Rome"), ["ada"])
      yield* people.insert({ city: "Bern" }, { id: "dan" })
      assert.deepStrictEqual(yield* scanned(store, "Rome"), ["ada"])
      assert.deepStrictEqual(yield* foundIds(store, "Rome"), ["ada"])
      assert.deepStrictEqual(yield* deepProblems(store), [])
    })
  )

  test(
    "an index is right after the write that follows a change of the shards by hand",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make(indexed)
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "abel" })
      yield* people.insert({ city: "Bern" }, { id: "bob" })
      yield* foreignCommit(
        remote,
        gone("people/abel.json"),
        gone("people/bob.json"),
        file("people/ab/abel.json", { city: "Oslo" }),
        settingsOf({ shardDepth: 1 })
      )
      const fresh = yield* Store.make()
      assert.deepStrictEqual(yield* foundIds(fresh, "Oslo"), ["abel"])
      assert.deepStrictEqual(yield* foundIds(fresh, "Rome"), [])
      yield* fresh.collection("people").insert({ city: "Bern" }, { id: "cleo" })
      assert.deepStrictEqual(yield* foundIds(fresh, "Bern"), ["cleo"])
      assert.deepStrictEqual(yield* deepProblems(fresh), [])
    })
  )

  test(
    "a number that JavaScript cannot hold in an indexed field stops no write of other documents in either format",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      for (const format of [1, 2] as const) {
        const store = yield* Store.make({ ...indexed, format })
        const people = store.collection("people")
        yield* people.insert({ city: "Rome" })
        yield* foreignCommit(remote, file("people/huge.json", '{"city": 1e400}'))
        const result = yield* Effect.either(people.insert({ city: "Bern" }))
        assert.strictEqual(
          result._tag,
          "Right",
          `format ${format} ${result._tag === "Left" ? result.left.message : ""}`
        )
        yield* foreignCommit(remote, gone("people/huge.json"), gone("_chainstore.json"))
      }
    })
  )

  test(
    "an index of either format holds a value as deep as a document may have it",
    Effect.gen(function* () {
      let deep: Json = 1
      for (let i = 0; i < 899; i++) deep = i % 2 ? [deep] : { a: deep }
      const store = yield* Store.make({ ...indexed, format: 1 })
      yield* store.collection("people").insert({ city: deep }, { id: "deep" })
      yield* store.collection("people").insert({ city: "Rome" }, { id: "rome" })
      yield* store.reindex({ format: 2 })
      const fresh = yield* Store.make()
      assert.deepStrictEqual(yield* foundIds(fresh, "Rome"), ["rome"])
      assert.deepStrictEqual(yield* foundIds(fresh, deep), ["deep"])
    })
  )

  test(
    "reindex to format 2 takes along the indexes of a repository without settings",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* foreignCommit(
        remote,
        file("people/ada.json", { city: "Rome" }),
        file("_index/people/city.json", { values: { Rome: ["ada"] }, ids: { ada: ["Rome"] } })
      )
      const store = yield* Store.make()
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      assert.strictEqual((yield* store.collection("people").explain("city", "Rome")).source, "index")
      yield* store.reindex({ format: 2 })
      yield* store.collection("people").insert({ city: "Bern" }, { id: "cleo" })
      const fresh = yield* Store.make()
      assert.deepStrictEqual(yield* foundIds(fresh, "Bern"), ["bob", "cleo"])
      assert.strictEqual(
        (yield* fresh.collection("people").explain("city", "Rome")).source,
        "index",
        (yield* paths(remote)).join()
      )
    })
  )

  test(
    "a store that begins with format 2 leaves no index file of format 1",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* foreignCommit(
        remote,
        file("people/ada.json", { city: "Rome" }),
        file("_index/people/city.json", { values: { Rome: ["ada"] }, ids: { ada: ["Rome"] } })
      )
      const store = yield* Store.make(indexed)
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      yield* store.reindex({ format: 2 })
      assert.deepStrictEqual(yield* foundIds(store, "Rome"), ["ada"])
      assert.notInclude(yield* paths(remote), "_index/people/city.json")
    })
  )

  test(
    "reindex removes the files of the other format where the settings were changed by hand",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make({ indexes: indexed.indexes })
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      yield* foreignCommit(remote, settingsOf({}))
      const fresh = yield* Store.make({ format: 2 })
      yield* fresh.reindex({ format: 2 })
      assert.notInclude(yield* paths(remote), "_index/people/city.json")
    })
  )

  test(
    "findBy returns correct results if rows and header were edited together",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make(indexed)
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      for (const leaf of [
        '[\n{"_id":"a"}, {"_id":"b",\n"city": 12345678901234567890}\n]\n',
        '[\n{"_id": "ada", "city": 1e400}\n]\n',
        "[]\n",
        '[\n{"_id": "../x", "city": "Rome"}\n]\n',
        '[\n{"_id": "ada", "city": "Rome"},\n{"_id": "ada", "city": "Rome"}\n]\n'
      ]) {
        yield* foreignCommit(remote, file("_index/people/city/rows/0.json", leaf))
        const head = Option.getOrThrow(yield* remote.head("main"))
        const rows = Option.getOrThrow(yield* remote.tree(head, "data/_index/people/city/rows")).oid
        const tree = Option.getOrThrow(yield* remote.tree(head, "data/people")).oid
        yield* foreignCommit(
          remote,
          file("_index/people/city/_header.json", { format: 2, tree, rows, count: 1 })
        )
        const exit = yield* Effect.exit(foundIds(store, "Rome"))
        assert.strictEqual(exit._tag, "Success", `${leaf} ${String(exit)}`)
        yield* store.doctorWith({ deep: true })
        yield* people.update("ada", { city: "Rome", n: Math.random() })
        yield* store.reindex()
      }
    })
  )
})
