import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { StoredDocument } from "../../../src/domain/document/Document.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { derivedProblems } from "../../../src/testing/history/DerivedCheck.js"
import { readHistory } from "../../../src/testing/history/HistoryReader.js"
import { hosted, remotes } from "./Remotes.js"

const derived = { indexes: { people: ["city"] }, manifests: { people: ["name"] } }
const cities = ["Oslo", "Rome", "Bern"]
const person = (n: number) => ({ city: cities[n % 3]!, name: `Person ${n}`, text: "x".repeat(200) })
const idOf = (n: number) => `p${String(n).padStart(5, "0")}`

const open = (options: StoreOptions = {}) =>
  Effect.map(Store.make(options), (store) => ({ store, people: store.collection("people") }))

const fill = (store: StoreService, count: number) =>
  store.batch({}, (batch) =>
    Effect.forEach(
      Array.from({ length: count }, (_, n) => n),
      (n) => batch.put("people", idOf(n), person(n)),
      { discard: true }
    )
  )

const derivedPaths = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data", { recursive: true }))
    return tree.entries
      .filter(({ path }) => path.startsWith("_") && path.includes("/"))
      .map(({ path }) => path)
  })

const byHand = (remote: GitRemoteService, ...changes: ReadonlyArray<Change>) =>
  Effect.flatMap(remote.head("main"), (head) => remote.commit("main", head, { message: "by hand", changes }))

const put = (id: string, document: object): Change => ({
  _tag: "Put",
  path: `data/people/${id}.json`,
  content: new TextEncoder().encode(JSON.stringify(document))
})

const idsOf = (found: ReadonlyArray<StoredDocument>) => found.map(({ _id }) => _id)

/** The newest commit's indexes and manifest equal what its documents say. */
const agrees = (remote: GitRemoteService, store: StoreService) =>
  Effect.gen(function* () {
    const history = yield* readHistory(remote, "main", "data")
    assert.deepStrictEqual(derivedProblems(history[history.length - 1]!, "people", derived), [])
    const bad = (yield* store.doctorWith({ deep: true })).filter(({ severity }) => severity !== "ok")
    assert.deepStrictEqual(
      bad.filter(({ code }) => /^(index|manifest)-/.test(code)),
      []
    )
  })

describe.each([...remotes, ...hosted])("indexes and manifests as trees on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  test(
    "a repository changes its format and back, and other clients follow",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { store } = yield* open(derived)
      yield* fill(store, 30)
      // It has seen the settings, and believes them for a while.
      const other = yield* open()
      yield* other.people.insert(person(1), { id: "first" })
      assert.deepStrictEqual(yield* derivedPaths(remote), [
        "_index/people/city.json",
        "_manifest/people.json"
      ])

      assert.isTrue(Option.isSome(yield* store.reindex({ format: 2 })))
      const paths = yield* derivedPaths(remote)
      assert.include(paths, "_index/people/city/_header.json")
      assert.include(paths, "_manifest/people/rows/0.json")
      assert.isFalse(paths.includes("_index/people/city.json") || paths.includes("_manifest/people.json"))
      yield* agrees(remote, store)
      assert.isTrue(Option.isNone(yield* store.reindex({ format: 2 })))

      assert.strictEqual(yield* other.people.count, 31)
      yield* other.people.insert(person(0), { id: "second" })
      yield* other.people.delete("first")
      yield* other.people.update(idOf(3), { city: "Rome" })
      yield* agrees(remote, store)
      const fresh = yield* open({ format: 2 })
      const found = idsOf(yield* fresh.people.findBy("city", "Oslo"))
      assert.deepStrictEqual(found, [...[0, 6, 9, 12, 15, 18, 21, 24, 27].map(idOf), "second"])
      assert.deepInclude(yield* fresh.people.explain("city", "Oslo"), { source: "index", current: true })

      yield* store.reindex({ format: 1 })
      assert.deepStrictEqual(yield* derivedPaths(remote), [
        "_index/people/city.json",
        "_manifest/people.json"
      ])
      yield* other.people.insert(person(0), { id: "third" })
      yield* agrees(remote, store)
      const refused = yield* Effect.flip(fresh.people.insert({}))
      assert.include(refused.message, "format")
    })
  )

  test(
    "operations that come to nothing make no commit, also where trees would begin",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* byHand(remote, put("a", { city: "Oslo" }))
      const head = yield* remote.head("main")
      const { store } = yield* open({ ...derived, format: 2 })
      const { commits } = yield* store.writer({}, (writer) =>
        Effect.zipRight(writer.put("people", "b", {}), writer.delete("people", "b"))
      )
      assert.deepStrictEqual([commits, yield* remote.head("main")], [[], head])
    })
  )

  test(
    "indexes of several fields, by path, descending and of some documents follow every write",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const indexes = {
        people: [
          { fields: ["city", { field: "age", order: "desc" }] },
          { name: "zip", fields: ["address.zip"] },
          { name: "open", fields: ["tags", "city"], where: { "address.state": "open" } },
          { name: "byTown", fields: ["town"] }
        ]
      } as const
      const { people, store } = yield* open({ format: 2, indexes })
      yield* fill(store, 5)
      yield* people.insert({ city: ["Oslo", "Rome"], age: [1, 2], address: { zip: 5 } }, { id: "lists" })
      yield* people.insert({ address: { state: "open", zip: "5" }, tags: ["x", "y"] }, { id: "open" })
      yield* people.insert({ town: "Bern", "address.zip": 7, address: { zip: 8 } }, { id: "whole" })
      yield* byHand(remote, put("foreign", { city: "Rome", address: { state: ["open", "new"] } }))
      yield* people.update("open", { address: { state: "closed", zip: "6" } })
      yield* people.delete("lists")
      const history = yield* readHistory(remote, "main", "data")
      const checked = { indexes, manifests: {} }
      for (const at of history.filter(({ info }) => !info.message.startsWith("by hand"))) {
        assert.deepStrictEqual(derivedProblems(at, "people", checked), [], at.info.message)
      }
      const before = history[history.length - 1]!
      assert.deepStrictEqual(yield* store.reindex(), Option.none())
      assert.strictEqual((yield* readHistory(remote, "main", "data")).length, history.length)
      assert.include([...before.derived.keys()], "_index/people/open/_header.json")

      for (const deep of [true, false]) {
        const bad = (yield* store.doctorWith({ deep })).filter(({ code }) => /^index-/.test(code))
        assert.deepStrictEqual(bad, [])
      }

      // Every index that a query could use serves findBy, whatever its name is.
      assert.deepStrictEqual(idsOf(yield* people.findBy("town", "Bern")), ["whole"])
      assert.deepInclude(yield* people.explain("town", "Bern"), {
        source: "index",
        index: "data/_index/people/byTown"
      })
      assert.deepInclude(yield* people.explain("city", "Rome"), {
        source: "index",
        index: "data/_index/people/city_age"
      })
      assert.deepStrictEqual(idsOf(yield* people.findBy("city", "Rome")), ["foreign", idOf(1), idOf(4)])
      assert.deepStrictEqual(idsOf(yield* people.findBy("address.zip", 7)), ["whole"])

      const numbers = Array.from({ length: 101 }, (_, n) => n)
      const failed = yield* Effect.flip(
        people.insert({ address: { state: "open" }, tags: numbers, city: numbers }, { id: "many" })
      )
      assert.match(failed.message, /people\/many cannot be indexed: its lists have too many combinations/)
      const one = yield* Effect.flip(store.reindex({ format: 1 }))
      assert.match(one.message, /format 1 cannot hold the index city_age of people/)
      assert.include(one.hint, "format 2")
      const plain = yield* open({ indexes: { people: [{ fields: ["a", "b"] }] }, root: "other" })
      const refused = yield* Effect.flip(plain.people.list())
      assert.match(refused.message, /format 1 cannot hold the index a_b of people/)
    })
  )

  for (const format of [1, 2] as const) {
    test(
      `an index of format ${format} with an edited definition is not used`,
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const named = (...fields: ReadonlyArray<string>) => ({ people: [{ name: "place", fields }] })
        const { store } = yield* open({ format, indexes: named("town") })
        yield* store.collection("people").insert({ town: "Bern", city: "Oslo" }, { id: "ada" })
        const reader = yield* open()
        assert.deepStrictEqual(idsOf(yield* reader.people.findBy("town", "Bern")), ["ada"])
        yield* byHand(remote, {
          _tag: "Put",
          path: "data/_chainstore.json",
          content: new TextEncoder().encode(JSON.stringify({ format, indexes: named("city") }))
        })
        for (const { people } of [reader, yield* open()]) {
          assert.deepStrictEqual(idsOf(yield* people.findBy("town", "Bern")), ["ada"])
          assert.deepStrictEqual(idsOf(yield* people.findBy("city", "Oslo")), ["ada"])
        }
        const fresh = yield* open()
        assert.deepStrictEqual(
          (yield* fresh.store.indexes).map(({ current, rows }) => [current, rows]),
          [[false, undefined]]
        )
        yield* fresh.people.insert({ city: "Oslo" }, { id: "bob" })
        assert.strictEqual((yield* fresh.people.explain("city", "Oslo")).source, "index")
        assert.deepStrictEqual(idsOf(yield* fresh.people.findBy("city", "Oslo")), ["ada", "bob"])
        assert.deepStrictEqual(
          (yield* fresh.store.indexes).map(({ current, rows }) => [current, rows]),
          [[true, 2]]
        )
      })
    )
  }

  test(
    "what other programs changed is found, and is put right by the next write",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open({ ...derived, format: 2 })
      yield* fill(store, 20)
      const remove: Change = { _tag: "Remove", path: `data/people/${idOf(3)}.json` }
      yield* byHand(remote, put("new", { city: "Oslo" }), put(idOf(0), { city: ["Bern", "Oslo"] }), remove)
      assert.deepStrictEqual(idsOf(yield* people.findBy("city", "Oslo")), [
        ...["new", ...[0, 6, 9, 12, 15, 18].map(idOf)]
      ])
      assert.deepInclude(yield* people.explain("city", "Oslo"), { source: "index", current: false })
      assert.include(idsOf(yield* people.findBy("city", "Bern")), idOf(0))
      assert.strictEqual(yield* people.count, 20)

      yield* people.insert(person(2), { id: "ours" })
      yield* agrees(remote, store)
      assert.deepInclude(yield* people.explain("city", "Oslo"), { source: "index", current: true })
      const found = idsOf(yield* people.findBy("city", "Bern"))
      assert.deepStrictEqual(found, ["ours", ...[0, 2, 5, 8, 11, 14, 17].map(idOf)])
    })
  )

  test(
    "a tree that somebody has damaged is not believed, and is made anew",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { people, store } = yield* open({ ...derived, format: 2 })
      yield* fill(store, 20)
      for (const [path, content] of [
        ["_index/people/city/rows/0.json", '[\n{"_id": "p00001", "city": "Oslo"}\n]\n'],
        ["_index/people/city/_header.json", "{}"],
        ["_index/people/city/rows/more.json", "[]\n"]
      ] as const) {
        yield* byHand(remote, {
          _tag: "Put",
          path: `data/${path}`,
          content: new TextEncoder().encode(content)
        })
        assert.deepStrictEqual(
          idsOf(yield* people.findBy("city", "Oslo")),
          [0, 3, 6, 9, 12, 15, 18].map(idOf)
        )
        assert.deepInclude(yield* people.explain("city", "Oslo"), { source: "scan", current: false })
        const codes = (yield* store.doctor).map(({ code }) => code)
        assert.include(codes, "index-unreadable")
        yield* people.update(idOf(1), { n: 1 })
        yield* agrees(remote, store)
      }
    })
  )
})

describe("the count of a collection with a manifest", () => {
  it.live("is read from its header, and no document is listed", () =>
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { store } = yield* open({ ...derived, format: 2 })
      yield* fill(store, 50)
      const listed: Array<string> = []
      const watched: GitRemoteService = {
        ...remote,
        snapshot: (branch) => {
          const snapshot = remote.snapshot(branch)
          return {
            ...snapshot,
            directory: (path, look) => {
              listed.push(path)
              return snapshot.directory(path, look)
            }
          }
        },
        tree: (at, path, options) => {
          listed.push(path)
          return remote.tree(at, path, options)
        }
      }
      const other = yield* Effect.provideService(Store.make(), GitRemote, watched)
      assert.strictEqual(yield* other.collection("people").count, 50)
      assert.include(listed, "data/_manifest/people/rows")
      assert.notInclude(listed, "data/people")
    }).pipe(Effect.provide(Layer.fresh(remotes[0]![1])))
  )
})

describe("doctor", () => {
  it.live("recommends trees for two thousand documents with an index", () =>
    Effect.gen(function* () {
      const { store } = yield* open(derived)
      const recommends = Effect.map(store.doctor, (found) => found.some(({ code }) => code === "format"))
      yield* fill(store, 1_999)
      assert.isFalse(yield* recommends)
      yield* store.collection("people").insert(person(1), { id: "last" })
      assert.isTrue(yield* recommends)
      yield* store.reindex({ format: 2 })
      assert.isFalse(yield* recommends)
    }).pipe(Effect.provide(Layer.fresh(remotes[0]![1])))
  )
})

describe("the cost of a write with an index and a manifest", () => {
  it.live("does not grow with the collection", () =>
    Effect.gen(function* () {
      const { store } = yield* open({ ...derived, format: 2 })
      const bytes: Array<number> = []
      for (const count of [500, 3_000]) {
        yield* fill(store, count)
        const commit = yield* store.preview((dry) =>
          dry.collection("people").insert(person(7), { id: "p002" })
        )
        const changes = Option.getOrThrow(commit).changes
        bytes.push(changes.reduce((sum, one) => sum + (one._tag === "Put" ? one.content.length : 0), 0))
        assert.isAtMost(changes.length, 9)
      }
      assert.isAtMost(bytes[1]!, 20_000)
      assert.isAtMost(bytes[1]!, bytes[0]! * 1.7)
    }).pipe(Effect.provide(Layer.fresh(remotes[0]![1])))
  )
})
