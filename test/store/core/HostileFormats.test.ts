import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import type { Json } from "../../../src/domain/Document.js"
import { fieldMatches } from "../../../src/domain/IndexKey.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { hosted, remotes } from "./Remotes.js"

const indexed: StoreOptions = { format: 2, indexes: { people: ["city"] }, manifests: { people: ["city"] } }

const byHand = (remote: GitRemoteService, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(remote.head("main"), (head) => remote.commit("main", head, { message: "by hand", changes }))

const file = (path: string, content: string | object): Change => ({
  _tag: "Put",
  path: `data/${path}`,
  content: new TextEncoder().encode(typeof content === "string" ? content : JSON.stringify(content))
})

const found = (store: StoreService, value: Json, field = "city") =>
  Effect.map(store.collection("people").findBy(field, value, { onInvalid: "skip" }), (all) =>
    all.map(({ _id }) => _id)
  )

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

const listed = (store: StoreService) =>
  Effect.map(
    Stream.runCollect(store.collection("people").find(() => true, { onInvalid: "skip" })),
    (all) => all.length
  )

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

const hashed: StoreOptions = { ...indexed, shardBy: "hash", shardDepth: 1, shardWidth: 2 }

describe.each([...remotes, ...hosted])("formats of index files, attacked on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "a manifest of another program with a field of any name does not make the repository unreadable",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* byHand(
        remote,
        file("people/ada.json", { _id: "ada", "": 1, city: "Rome" }),
        file("_manifest/people.json", { documents: { ada: { "": 1, city: "Rome" } } })
      )
      const store = yield* Store.make()
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      yield* store.reindex({ format: 2 })
      const fresh = yield* Store.make()
      assert.strictEqual(yield* fresh.collection("people").count, 2)
      yield* fresh.collection("people").insert({ city: "Bern" }, { id: "cleo" })
    })
  )

  for (const format of [1, 2] as const) {
    test(
      `format ${format}: findBy and count equal a scan where the store deletes a document with a copy in another shard`,
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Store.make({ ...hashed, format })
        const people = store.collection("people")
        yield* people.insert({ city: "Rome" }, { id: "ada" })
        yield* people.insert({ city: "Bern" }, { id: "bob" })
        yield* byHand(remote, file("people/00/ada.json", { city: "Rome" }))
        yield* people.insert({ city: "Bern" }, { id: "cleo" })
        yield* people.delete("ada")
        const fresh = yield* Store.make()
        const [rome, all] = [yield* scanned(fresh, "Rome"), yield* listed(fresh)]
        assert.deepStrictEqual(
          [yield* found(fresh, "Rome"), yield* fresh.collection("people").count],
          [rome, all]
        )
      })
    )

    test(
      `format ${format}: an index holds one version of a document that the store inserts where a copy lies in another shard`,
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Store.make({ ...hashed, format })
        const people = store.collection("people")
        yield* people.insert({ city: "Bern" }, { id: "bob" })
        yield* byHand(remote, file("people/00/ada.json", { city: "Rome" }))
        yield* people.insert({ city: "Bern" }, { id: "cleo" })
        yield* people.insert({ city: "Oslo" }, { id: "ada" })
        const fresh = yield* Store.make()
        for (const city of ["Rome", "Oslo", "Bern"]) {
          assert.deepStrictEqual(yield* found(fresh, city), yield* scanned(fresh, city), city)
        }
        assert.strictEqual(yield* fresh.collection("people").count, yield* listed(fresh))
        assert.deepStrictEqual(yield* deepProblems(fresh), [])
      })
    )
  }

  test(
    "findBy and count equal a scan where the layout is changed by hand and documents stay",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make({ ...indexed, shardBy: "leading", shardDepth: 1, shardWidth: 2 })
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "abel" })
      yield* byHand(remote, file("people/zed.json", { city: "Oslo" }))
      yield* people.insert({ city: "Bern" }, { id: "bob" })
      const settings = {
        format: 2,
        shardBy: "leading",
        shardDepth: 0,
        shardWidth: 2,
        indexes: { people: ["city"] },
        manifests: { people: ["city"] }
      }
      yield* byHand(remote, file("_chainstore.json", settings))
      const fresh = yield* Store.make()
      const seen = [
        yield* found(fresh, "Oslo"),
        yield* found(fresh, "Rome"),
        yield* fresh.collection("people").count
      ]
      assert.deepStrictEqual(seen, [
        yield* scanned(fresh, "Oslo"),
        yield* scanned(fresh, "Rome"),
        yield* listed(fresh)
      ])
    })
  )

  test(
    "no files of a format stay where a collection was empty when the format changed",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { format: _, ...options } = indexed
      const store = yield* Store.make(options)
      const people = store.collection("people")
      yield* people.insert({ city: "Rome" }, { id: "ada" })
      yield* store.collection("others").insert({ n: 1 })
      yield* people.delete("ada")
      for (const format of [2, 1, 2] as const) {
        yield* store.reindex({ format })
        yield* people.insert({ city: "Oslo" }, { id: "ada" })
        assert.deepStrictEqual(yield* found(store, "Oslo"), ["ada"])
        assert.strictEqual(yield* people.count, 1)
        const there = (yield* paths(remote)).filter((path) =>
          format === 2
            ? path === "_index/people/city.json" || path === "_manifest/people.json"
            : path === "_index/people/city/_header.json" || path === "_manifest/people/_header.json"
        )
        assert.deepStrictEqual(there, [], `format ${format}`)
        yield* people.delete("ada")
      }
    })
  )

  test(
    "a foreign index of a field that the store does not name goes where the store begins with format 2",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* byHand(
        remote,
        file("people/ada.json", { city: "Rome", name: "Ada" }),
        file("others/ada.json", { city: "Rome" }),
        file("_index/people/name.json", { values: { Ada: ["ada"] }, ids: { ada: ["Ada"] } }),
        file("_index/others/city.json", { values: { Rome: ["ada"] }, ids: { ada: ["Rome"] } })
      )
      const store = yield* Store.make({ format: 2, indexes: { people: ["city"] } })
      yield* store.collection("people").insert({ city: "Bern" }, { id: "bob" })
      yield* store.reindex()
      const all = yield* paths(remote)
      assert.deepStrictEqual(
        all.filter((path) => path === "_index/people/name.json" || path === "_index/others/city.json"),
        []
      )
    })
  )

  test(
    "an index holds one version of a document that somebody puts at its place where a copy lies in another shard",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const store = yield* Store.make(hashed)
      const people = store.collection("people")
      yield* people.insert({ city: "Bern" }, { id: "ada" })
      const ada = (yield* paths(remote)).find((path) => path.endsWith("ada.json"))!
      yield* people.delete("ada")
      yield* people.insert({ city: "Bern" }, { id: "bob" })
      yield* byHand(remote, file("people/00/ada.json", { city: "Rome" }))
      yield* people.insert({ city: "Bern" }, { id: "cleo" })
      yield* byHand(remote, file(ada, { city: "Oslo" }))
      yield* people.insert({ city: "Bern" }, { id: "dan" })
      const fresh = yield* Store.make()
      for (const city of ["Rome", "Oslo", "Bern"]) {
        assert.deepStrictEqual(yield* found(fresh, city), yield* scanned(fresh, city), city)
      }
      assert.strictEqual(yield* fresh.collection("people").count, yield* listed(fresh))
      assert.deepStrictEqual(yield* deepProblems(fresh), [])
    })
  )
})
