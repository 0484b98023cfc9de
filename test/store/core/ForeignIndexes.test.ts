import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import type { Json } from "../../../src/domain/json/Json.js"
import { Browse } from "../../../src/store/browse/index.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { hosted, remotes } from "./Remotes.js"

/** Files as the reference writes them: numbers keep Python's spelling. */
const foreign = {
  "data/rows/ten.json": '{\n  "_id": "ten",\n  "_rev": 1,\n  "n": 10.0\n}\n',
  "data/rows/huge.json": '{\n  "_id": "huge",\n  "_rev": 1,\n  "n": 1e+16\n}\n',
  "data/rows/none.json": '{\n  "_id": "none",\n  "_rev": 1,\n  "n": -0.0\n}\n',
  "data/rows/long.json": '{\n  "_id": "long",\n  "_rev": 1,\n  "n": 12345678901234567890\n}\n',
  "data/rows/deep.json":
    '{\n  "_id": "deep",\n  "_rev": 1,\n  "n": {\n    "b": 2.0,\n    "a": -0.0\n  }\n}\n',
  "data/rows/list.json": '{\n  "_id": "list",\n  "_rev": 1,\n  "n": [\n    10.0,\n    10,\n    "10"\n  ]\n}\n'
}

/** What the reference's index says of them; `lost` is a document that the index does not know. */
const values = {
  "-0.0": ["none"],
  "10": ["list"],
  "10.0": ["list", "ten"],
  "12345678901234567890": ["long"],
  "1e+16": ["huge"],
  '{"a": -0.0, "b": 2.0}': ["deep"]
}
const ids = {
  deep: ['{"a": -0.0, "b": 2.0}'],
  huge: ["1e+16"],
  list: ["10.0", "10"],
  long: ["12345678901234567890"],
  none: ["-0.0"],
  ten: ["10.0"]
}

const commit = (remote: GitRemoteService, files: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const changes = Object.entries(files).map(([path, text]) => ({
      _tag: "Put" as const,
      path,
      content: new TextEncoder().encode(text)
    }))
    yield* remote.commit("main", yield* remote.head("main"), { message: "by another program", changes })
  })

const textAt = (remote: GitRemoteService, path: string) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    return new TextDecoder().decode(Option.getOrThrow(yield* remote.file(head, path)).content)
  })

const open = (options: StoreOptions = {}) =>
  Effect.map(Store.make(options), (store) => {
    const rows = store.collection("rows")
    const find = (value: Json) => Effect.map(rows.findBy("n", value), (found) => found.map(({ _id }) => _id))
    return { store, rows, find }
  })

const index = JSON.stringify({
  _index: "n",
  collection: "rows",
  updated_at: "2026-01-01T00:00:00Z",
  values,
  ids
})
const manifest = JSON.stringify({ collection: "rows", count: 1, ids: ["ten"], documents: { ten: { n: 10 } } })
const lost = { "data/rows/lost.json": '{\n  "_id": "lost",\n  "_rev": 1,\n  "n": 10\n}\n' }

describe.each([...remotes, ...hosted])("index files of another program on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)))

  test(
    "are not believed, except where they are trusted, and the next write heals them",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* commit(remote, {
        ...foreign,
        ...lost,
        "data/_index/rows/n.json": index,
        "data/_manifest/rows.json": manifest
      })
      const { find, rows } = yield* open()
      assert.deepStrictEqual(yield* find(10), ["list", "lost", "ten"])
      const scanned = yield* rows.explain("n", 10)
      assert.deepInclude(scanned, { source: "scan", current: false, index: "data/_index/rows/n.json" })
      assert.match(scanned.reason, /another program/)

      const trusting = yield* open({ trustForeignIndexes: true })
      assert.deepStrictEqual(yield* trusting.find(10), ["list", "ten"])
      assert.deepInclude(yield* trusting.rows.explain("n", 10), { source: "index", current: false })

      yield* rows.insert({ n: 10 }, { id: "ours" })
      for (const each of [find, trusting.find]) {
        assert.deepStrictEqual(yield* each(10), ["list", "lost", "ours", "ten"])
      }
      assert.deepInclude(yield* rows.explain("n", 10), { source: "index", current: true })
      const healed = JSON.parse(yield* textAt(remote, "data/_manifest/rows.json"))
      assert.strictEqual(healed.count, 8)
      assert.match(healed.tree, /^[0-9a-f]{40}$/)
    })
  )

  test(
    "are healed by a reindex, also where nothing is written",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* commit(remote, { ...foreign, ...lost, "data/_index/rows/n.json": index })
      const { find, rows } = yield* open()
      assert.isTrue(Option.isSome(yield* rows.reindex()))
      assert.deepInclude(yield* rows.explain("n", 10), { source: "index", current: true })
      assert.deepStrictEqual(yield* find(10), ["list", "lost", "ten"])
    })
  )

  test(
    "keep the keys of numbers as the documents spell them, and lookups find every spelling",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* commit(remote, {
        ...foreign,
        "data/_index/rows/n.json": index,
        "data/_manifest/rows.json": manifest
      })
      const { find, rows } = yield* open()
      yield* rows.insert({ n: 5 }, { id: "ours" })
      const path = "data/_index/rows/n.json"
      const rebuilt = JSON.parse(yield* textAt(remote, path))
      assert.deepStrictEqual(rebuilt.values, { ...values, "5": ["ours"] })
      assert.deepStrictEqual(rebuilt.ids, { ...ids, ours: ["5"] })
      assert.strictEqual((yield* rows.explain("n", 10)).source, "index")
      assert.deepStrictEqual(yield* find(10), ["list", "ten"])
      assert.deepStrictEqual(yield* find(1e16), ["huge"])
      assert.deepStrictEqual(yield* find(0), ["none"])
      assert.deepStrictEqual(yield* find(Number("12345678901234567890")), ["long"])
      assert.deepStrictEqual(yield* find({ a: 0, b: 2 }), ["deep"])
      assert.deepStrictEqual(yield* find([10, 10, "10"]), ["list"])

      const spelled = yield* textAt(remote, "data/_manifest/rows.json")
      for (const text of ['"n": 10.0', '"n": 1e+16', '"n": -0.0', '"n": 12345678901234567890', '"b": 2.0']) {
        assert.include(spelled, text)
      }
      yield* rows.insert({ n: 6 }, { id: "more" })
      const after = JSON.parse(yield* textAt(remote, path))
      assert.deepStrictEqual(after.values, { ...values, "5": ["ours"], "6": ["more"] })
      assert.include(yield* textAt(remote, "data/_manifest/rows.json"), '"n": 12345678901234567890')
      assert.isTrue(Option.isNone(yield* rows.reindex()))
    })
  )

  test(
    "a manifest without a version is taken for the documents only where it is trusted, and then for none that is gone",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* commit(remote, {
        ...lost,
        "data/_manifest/rows.json": manifest,
        "data/_manifest/gone.json": manifest
      })
      const { store } = yield* open()
      const browse = yield* Browse.make({ store, remote, readOnly: true })
      const ask = (collection: string, from = browse) =>
        from.query({ collection, filters: [], limit: 9, projected: true })
      const gone = yield* ask("gone")
      assert.deepInclude(gone, { documents: [], source: "scan" })
      assert.deepStrictEqual(gone.manifest?.extra, ["ten"])
      const rows = yield* ask("rows")
      assert.strictEqual(rows.source, "scan")
      assert.deepInclude(rows.manifest, { current: false, missing: ["lost"], extra: ["ten"] })

      yield* commit(remote, foreign)
      const trusting = yield* open({ trustForeignIndexes: true })
      const believing = yield* Browse.make({ store: trusting.store, remote, readOnly: true })
      const believed = yield* ask("rows", believing)
      assert.deepInclude(believed, { documents: [{ _id: "ten", n: 10 }], source: "manifest", total: 1 })
      assert.isFalse(believed.manifest?.current)
      assert.deepInclude(believed.manifest?.missing, "lost")
      const nothing = yield* ask("gone", believing)
      assert.deepInclude(nothing, { documents: [], source: "manifest", total: 0 }, "a row is a document")
      const past = yield* believing.query({
        collection: "rows",
        filters: [],
        limit: 9,
        projected: true,
        at: "main~1"
      })
      assert.deepInclude(past, { documents: [], source: "manifest" })
      yield* trusting.rows.insert({ n: 7 }, { id: "ours" })
      yield* commit(remote, { "data/rows/later.json": lost["data/rows/lost.json"] })
      const stale = yield* ask("rows", believing)
      assert.strictEqual(stale.source, "scan", "one that names another version is not trusted")
    })
  )
})
