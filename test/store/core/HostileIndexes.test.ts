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

describe.each([...remotes, ...hosted])("indexes that somebody wants to break, on %s", (_name, layer) => {
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Layer.fresh(layer)), 60_000)

  // docs/queries.md: "A result never depends on indexes: they change what is read."
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
    "a query by a path with dots finds what lies below it, whatever the format of the index",
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

  // docs/indexes.md, "When others write": "The next write of the store brings the rows up to date". What is refused is
  // "a write of more" combinations, and nothing here writes any: the document is another program's.
})
