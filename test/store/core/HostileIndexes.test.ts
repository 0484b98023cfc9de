import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { AnyWhere } from "../../../src/domain/query/Query.js"
import type { Collection } from "../../../src/store/Collection.js"
import { type Change, GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { hosted, remotes } from "./Remotes.js"

/** The documents of a query, which are as many as are counted. */
const found = (things: Collection, where: AnyWhere) =>
  Effect.gen(function* () {
    const { documents } = yield* things.query({ where })
    const ids = documents.map(({ _id }) => _id)
    assert.strictEqual(yield* things.countWhere(where), ids.length, JSON.stringify(where))
    return ids
  })

const opened = (options: StoreOptions) =>
  Effect.map(Store.make(options), (store) => ({ store, things: store.collection("things") }))

/** Commits documents as another program does: without the indexes. */
const byHand = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const remote = yield* GitRemote
    const changes = Object.entries(files).map(
      ([id, text]): Change => ({
        _tag: "Put",
        path: `data/things/${id}.json`,
        content: new TextEncoder().encode(text)
      })
    )
    yield* remote.commit("main", yield* remote.head("main"), { message: "by hand", changes })
  })

describe.each([...remotes, ...hosted])("damaged indexes", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  // docs/queries.md: "Results never depend on indexes, which only change what is read."
  for (const [kind, options] of [
    ["an ascending index", { format: 2, indexes: { things: ["f"] } }],
    ["a descending index", { format: 2, indexes: { things: [{ fields: [{ field: "f", order: "desc" }] }] } }]
  ] satisfies ReadonlyArray<readonly [string, StoreOptions]>) {
    test(
      `a range that ends at 2^53 has the numbers beside it, by ${kind}`,
      Effect.gen(function* () {
        const { things } = yield* opened(options)
        const greatest = Number.MAX_SAFE_INTEGER
        yield* things.insert({ f: greatest }, { id: "up" })
        yield* things.insert({ f: -greatest }, { id: "down" })
        assert.deepStrictEqual(
          [
            yield* found(things, { f: { atLeast: 0, lessThan: 2 ** 53 } }),
            yield* found(things, { f: { atMost: 0, greaterThan: -(2 ** 53) } })
          ],
          [["up"], ["down"]]
        )
      })
    )
  }

  test(
    "a range that ends beyond 2^53 has what others wrote, read as JavaScript reads it",
    Effect.gen(function* () {
      const { things } = yield* opened({ format: 2, indexes: { things: ["f"] } })
      yield* things.insert({ f: "text" })
      // JavaScript reads 9007199254740993 as ...992, and 9007199254740995 as ...996.
      yield* byHand({ low: '{"f": 9007199254740993}', high: '{"f": 9007199254740995}' })
      // The next write brings the rows up to date: until then the documents answer, and rightly.
      const below = { f: { lessThan: 9007199254740994 } }
      const above = { f: { greaterThan: 9007199254740994 } }
      const behind = [yield* found(things, below), yield* found(things, above)]
      assert.deepStrictEqual(behind, [["low"], ["high"]])
      yield* things.insert({ f: "another text" })
      assert.deepStrictEqual([yield* found(things, below), yield* found(things, above)], behind)
    })
  )

  // docs/queries.md: "A path names the member whose whole name it is, or else leads through objects by its dots."
  // docs/indexes.md: "Format 1 and `findBy` know whole names only", so such a file cannot answer a query by the path.
  test(
    "a query by a path with dots finds nested values, in both index formats",
    Effect.gen(function* () {
      const { store, things } = yield* opened({ indexes: { things: ["address.city"] } })
      yield* things.insert({ address: { city: "Rome" } }, { id: "nested" })
      yield* things.insert({ "address.city": "Rome" }, { id: "whole" })
      const rome = { "address.city": "Rome" }
      const byFile = yield* found(things, rome)
      yield* store.reindex({ format: 2 })
      const byTree = yield* found(things, rome)
      yield* store.reindex({ format: 1 })
      const both = ["nested", "whole"]
      assert.deepStrictEqual([byFile, byTree, yield* found(things, rome)], [both, both, both])
    })
  )

  // docs/indexes.md: "A document of another program whose lists have more combinations than an index holds keeps this index
  // from being brought up to date, and nothing else".
  const list = (length: number) => JSON.stringify(Array.from({ length }, (_, n) => n))
  const wide = `{"f": ${list(101)}, "g": ${list(101)}}`
  test(
    "a foreign document with too many combinations prevents neither writes nor queries",
    Effect.gen(function* () {
      const { store, things } = yield* opened({
        format: 2,
        indexes: { things: [{ fields: ["f", "g"] }, "g"] }
      })
      yield* things.insert({ f: 7, g: 7 }, { id: "first" })
      yield* byHand({ wide })
      yield* things.insert({ f: 7, g: 8 }, { id: "second" })
      yield* things.update("first", { g: 9 })
      assert.deepStrictEqual(yield* found(things, { f: 7 }), ["first", "second", "wide"])
      assert.deepStrictEqual(yield* found(things, { f: 7, g: 9 }), ["first", "wide"])
      assert.deepInclude(yield* things.explainQuery({ where: { f: 7, g: 9 } }), {
        source: "index",
        current: false
      })
      assert.isTrue((yield* things.explainQuery({ where: { g: 9 } })).current, "the other index follows")
      const refused = yield* Effect.flip(things.update("wide", { h: 1 }))
      assert.match(refused.message, /things\/wide cannot be indexed/)
      assert.match((yield* Effect.flip(store.reindex())).message, /things\/wide cannot be indexed/)
      const named = (yield* store.doctorWith({ deep: true })).find(({ code }) => code === "index-unfit")
      assert.deepStrictEqual(named?.ids, ["wide"])
      yield* things.update("wide", { f: 7 })
      assert.isTrue((yield* things.explainQuery({ where: { f: 7, g: 9 } })).current)
      assert.deepStrictEqual(yield* found(things, { f: 7 }), ["first", "second", "wide"])
      const bad = (yield* store.doctorWith({ deep: true })).filter(({ severity }) => severity !== "ok")
      assert.deepStrictEqual(bad, [])
    })
  )

  test(
    "an index that begins beside such a document waits for it",
    Effect.gen(function* () {
      const { things: plain } = yield* opened({ format: 2, indexes: { things: ["h"] } })
      yield* plain.insert({ f: 1, g: 1 }, { id: "first" })
      yield* byHand({ wide })
      const remote = yield* GitRemote
      const settings = { format: 2, indexes: { things: ["h", { fields: ["f", "g"] }] } }
      const change: Change = {
        _tag: "Put",
        path: "data/_chainstore.json",
        content: new TextEncoder().encode(`${JSON.stringify(settings, null, 2)}\n`)
      }
      yield* remote.commit("main", yield* remote.head("main"), { message: "settings", changes: [change] })
      const { things } = yield* opened({})
      yield* things.insert({ f: 1, g: 2 }, { id: "second" })
      assert.deepStrictEqual(yield* found(things, { f: 1 }), ["first", "second", "wide"])
      yield* things.delete("wide")
      assert.isTrue((yield* things.explainQuery({ where: { f: 1, g: 2 } })).current)
      assert.deepStrictEqual(yield* found(things, { f: 1 }), ["first", "second"])
    })
  )

  test(
    "a manifest with edited fields does not replace the documents",
    Effect.gen(function* () {
      const { things: before } = yield* opened({ format: 2, manifests: { things: ["f"] } })
      yield* before.insert({ f: 1, g: 1 }, { id: "first" })
      const remote = yield* GitRemote
      const settings = { format: 2, manifests: { things: ["f", "g"] } }
      const change: Change = {
        _tag: "Put",
        path: "data/_chainstore.json",
        content: new TextEncoder().encode(`${JSON.stringify(settings, null, 2)}\n`)
      }
      yield* remote.commit("main", yield* remote.head("main"), { message: "settings", changes: [change] })
      const { things } = yield* opened({})
      yield* things.insert({ f: 2, g: 2 }, { id: "second" })
      for (const where of [{ g: { exists: true } }, { g: { atLeast: 1 } }]) {
        const { documents } = yield* things.query({ where, select: ["f", "g"], orderBy: "g" })
        assert.deepStrictEqual(documents as ReadonlyArray<unknown>, [
          { _id: "first", f: 1, g: 1 },
          { _id: "second", f: 2, g: 2 }
        ])
        assert.strictEqual(yield* things.countWhere(where), 2)
      }
      assert.deepStrictEqual(yield* things.distinct("g"), [1, 2])
    })
  )

  test(
    "equalities of one field that are joined by or use its index as in does",
    Effect.gen(function* () {
      const { things } = yield* opened({ format: 2, indexes: { things: ["f"] } })
      for (const n of [1, 2, 3]) yield* things.insert({ f: n === 3 ? [3, 1] : n }, { id: `d${n}` })
      const where = { or: [{ f: 1 }, { f: { in: [2] } }, { f: 1 }] }
      assert.deepStrictEqual(yield* found(things, where), ["d1", "d2", "d3"])
      assert.deepInclude(yield* things.explainQuery({ where }), { source: "index", ranges: 2, restricted: 1 })
      const page = yield* things.query({ where, limit: 1 })
      const next = yield* things.query({ where: { f: { in: [1, 2] } }, cursor: page.cursor })
      assert.deepStrictEqual(
        next.documents.map(({ _id }) => _id),
        ["d2", "d3"],
        "it is the same query"
      )
    })
  )
})
