import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Layer, Option, Schema, Stream } from "effect"
import * as fc from "fast-check"
import type { Json, JsonObject } from "../../../src/domain/json/Json.js"
import { fieldMatches } from "../../../src/domain/json/JsonEquality.js"
import { parseLossless } from "../../../src/domain/json/LosslessJson.js"
import { matcherOf } from "../../../src/domain/query/Matching.js"
import { sortKeys } from "../../../src/domain/query/Ordering.js"
import type { AnyWhere, Query } from "../../../src/domain/query/Query.js"
import { readQuery } from "../../../src/domain/query/ReadQuery.js"
import { selectionOf } from "../../../src/domain/query/Selection.js"
import type { Collection } from "../../../src/store/Collection.js"
import { type Change, GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { hosted, remotes } from "./Remotes.js"

const scalar = fc.constantFrom<Json>(null, true, -1, 0, 0.5, 1, 2, 2 ** 53, "", "a", "ab", "b", "é")
const value: fc.Arbitrary<Json> = fc.oneof(
  { weight: 8, arbitrary: scalar },
  fc.array(scalar, { maxLength: 3 }),
  fc.constantFrom<Json>({ x: 1 }, [[1], 1], [])
)
const document = fc.record(
  { f: value, g: value, n: fc.record({ x: value }), p: fc.boolean() },
  { requiredKeys: [] }
) as fc.Arbitrary<JsonObject>

const path = fc.constantFrom("f", "g", "n.x", "p", "_id")
const ordered = fc.constantFrom<number | string>(-1, 0, 1, 2 ** 53, "", "a", "b")
const field: fc.Arbitrary<any> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  fc.record({ is: value }),
  fc.record({ in: fc.array(value, { maxLength: 3 }) }),
  fc.record({ atLeast: ordered }),
  fc.record({ greaterThan: ordered, atMost: ordered }),
  fc.record({ lessThan: ordered }),
  fc.record({ startsWith: fc.constantFrom("", "a") }),
  fc.record({ exists: fc.boolean() }),
  fc.record({ isNot: scalar })
)
const simple = fc.dictionary(path, field, { maxKeys: 2 }) as fc.Arbitrary<AnyWhere>
const where: fc.Arbitrary<AnyWhere> = fc.oneof(
  { weight: 4, arbitrary: simple },
  simple.map((one) => ({ ...one, p: true })),
  fc.record({ or: fc.array(simple, { maxLength: 2 }) }),
  fc.record({ not: simple }),
  fc.record({ and: fc.tuple(simple, simple) })
)
const orderBy = fc.array(
  fc.record({ field: path, order: fc.constantFrom("asc" as const, "desc" as const) }),
  {
    maxLength: 2
  }
)
const query = fc.record({ where, orderBy })

const indexes: NonNullable<StoreOptions["indexes"]> = {
  things: [
    "f",
    { name: "g-f", fields: ["g", { field: "f", order: "desc" }] },
    { name: "n-down", fields: [{ field: "n.x", order: "desc" }] },
    { name: "g-where-p", fields: ["g"], where: { p: true } }
  ]
}
const kinds: ReadonlyArray<readonly [string, StoreOptions]> = [
  ["no index", {}],
  ["indexes of format 1", { indexes: { things: ["f"] }, manifests: { things: ["f", "g"] } }],
  ["indexes and a manifest of format 2", { format: 2, indexes, manifests: { things: ["f", "g"] } }]
]

/** Members, dots and all, with values to look for by `findBy`. */
const members: ReadonlyArray<readonly [string, Json]> = [
  ...[1, "a", null, [], ["a", "b"]].map((value): readonly [string, Json] => ["f", value]),
  ["g", 2 ** 53],
  ["n.x", 1],
  ["n", { x: 1 }]
]

const decoder = new TextDecoder()

/** What lies in the files of a collection, by id. */
const filesOf = (remote: GitRemoteService) =>
  Effect.gen(function* () {
    const head = Option.getOrThrow(yield* remote.head("main"))
    const tree = Option.getOrThrow(yield* remote.tree(head, "data/things", { recursive: true }))
    const files = tree.entries.flatMap(({ kind, oid, path }) =>
      kind === "blob" ? [{ path: `data/things/${path}`, oid }] : []
    )
    const blobs = yield* Stream.runCollect(remote.blobs(head, files, { concurrency: 4 }))
    return new Map(
      Array.from(
        blobs,
        ({ content, path }) => [path.slice("data/things/".length, -".json".length), content] as const
      )
    )
  })

/** The result by the documents alone. */
const naive = (files: ReadonlyMap<string, Uint8Array>, given: Query) => {
  const { order, predicate } = Either.getOrThrow(readQuery(given))
  const matches = matcherOf(predicate)
  const keyOf = sortKeys(order, predicate)
  return Array.from(files, ([id, content]) => {
    const document = { ...(JSON.parse(decoder.decode(content)) as JsonObject), _id: id }
    const spelled = Either.getOrThrow(parseLossless(content))
    return { id, document, key: keyOf({ ...spelled, _id: id }, id) }
  })
    .filter(({ document }) => matches(document))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

const collected = (things: Collection, given: Query, limit: number) =>
  Effect.gen(function* () {
    const ids: Array<string> = []
    let cursor: string | null = null
    do {
      const page: {
        readonly documents: ReadonlyArray<{ readonly _id: string }>
        readonly cursor: string | null
      } = yield* things.query({ ...given, limit, cursor })
      ids.push(...page.documents.map(({ _id }) => _id))
      assert.isTrue(page.documents.length === limit || page.cursor === null)
      cursor = page.cursor
    } while (cursor !== null)
    return ids
  })

/** Asks in every way, and compares with what the files say. Returns the sources that were used. */
const ask = (remote: GitRemoteService, things: Collection, queries: ReadonlyArray<Query>) =>
  Effect.gen(function* () {
    const files = yield* filesOf(remote)
    const sources = new Set<string>()
    for (const given of queries) {
      const about = JSON.stringify(given)
      const expected = naive(files, given)
      const ids = expected.map(({ id }) => id)
      assert.deepStrictEqual(yield* collected(things, given, 25), ids, about)
      const all = yield* Stream.runCollect(things.queryAll(given))
      assert.deepStrictEqual(
        Chunk.toReadonlyArray(all).map(({ _id }) => _id),
        ids,
        about
      )
      assert.strictEqual(yield* things.countWhere(given.where as AnyWhere), ids.length, about)
      const select = ["f", "g"]
      const some = yield* things.query({ ...given, select, limit: 500 })
      assert.deepStrictEqual(
        some.documents as ReadonlyArray<unknown>,
        expected.map(({ document, id }) => selectionOf(select)(document, id)),
        about
      )
      const { ordered, source } = yield* things.explainQuery({ ...given, limit: 5 })
      sources.add(`${source} ${ordered ? "in order" : "and a sort"}`)
      sources.add((yield* things.explainQuery({ ...given, select, limit: 5 })).source)
      const { explanation, ...page } = yield* things.query({ ...given, limit: 5, explain: true })
      assert.deepStrictEqual(page, yield* things.query({ ...given, limit: 5 }), about)
      assert.deepStrictEqual(explanation, yield* things.explainQuery({ ...given, limit: 5 }), about)
    }
    for (const [field, value] of members) {
      const ids = Array.from(files, ([id, content]) => ({ id, ...JSON.parse(decoder.decode(content)) }))
        .filter((found: JsonObject) => Object.hasOwn(found, field) && fieldMatches(found[field], value))
        .map(({ id }) => String(id))
        .sort()
      const about = `${field} ${JSON.stringify(value)}`
      const found = (options = {}) =>
        Effect.map(things.findBy(field, value, options), (all) => all.map(({ _id }) => _id))
      assert.deepStrictEqual(yield* found(), ids, about)
      const [, second] = ids
      if (second === undefined) continue
      assert.deepStrictEqual(yield* found({ after: ids[0], limit: 1 }), [second], about)
    }
    const values = new Map<string, Json>()
    for (const { document } of naive(files, {})) {
      const found = (document as JsonObject)["g"]
      for (const one of Array.isArray(found) ? found : [found]) {
        if (Array.isArray(one) && one.length === 0) continue
        if (one !== undefined && Number.isFinite(typeof one === "number" ? one : 0)) {
          values.set(JSON.stringify(one), one)
        }
      }
    }
    const distinct = (yield* things.distinct("g")) as ReadonlyArray<Json>
    assert.deepStrictEqual(distinct.map((one) => JSON.stringify(one)).sort(), [...values.keys()].sort())
    return sources
  })

const put = (id: string, text: string): Change => ({
  _tag: "Put",
  path: `data/things/${id}.json`,
  content: new TextEncoder().encode(text)
})

const idOf = (n: number) => `d${String(n).padStart(3, "0")}`

describe.each([...remotes, ...hosted])("queries on %s", (name, layer) => {
  const isMemory = name === "Memory"
  const documents = isMemory ? 40 : 30

  it.live.each(isMemory ? kinds : kinds.slice(2))(
    "have the result that the documents say, with %s",
    ([kind, options]) =>
      Effect.gen(function* () {
        const remote = yield* GitRemote
        const store = yield* Store.make(options)
        const things = store.collection("things")
        yield* store.batch({}, (batch) =>
          Effect.forEach(fc.sample(document, { numRuns: documents, seed: 1 }), (one, n) =>
            batch.put("things", idOf(n), one)
          )
        )
        const asked = !isMemory ? 8 : kind === "indexes and a manifest of format 2" ? 40 : 12
        const queries = fc.sample(query, { numRuns: asked, seed: 2 })
        const sources = yield* ask(remote, things, queries)
        if (asked === 40) {
          assert.deepStrictEqual([...sources].sort(), [
            "index",
            "index and a sort",
            "index in order",
            "manifest",
            "scan",
            "scan and a sort",
            "scan in order"
          ])
        }
        // Documents alone change: numbers that JavaScript cannot tell apart or hold, and files that go.
        const head = yield* remote.head("main")
        yield* remote.commit("main", head, {
          message: "by hand",
          changes: [
            put("by-hand", '{"f": 9007199254740993, "g": "a", "p": true}'),
            put("by-hand-2", '{"f": [1e400, 5], "g": 1e400, "n": {"x": 1e400}, "p": true}'),
            put("by-hand-3", '{"n.x": [1, 2], "n": {"x": 3}}'),
            put(idOf(3), '{"f": 9007199254740992, "g": ["a", "b"]}'),
            { _tag: "Remove", path: `data/things/${idOf(5)}.json` }
          ]
        })
        yield* ask(remote, things, queries.slice(0, asked / 2))
        // The next write brings the indexes up to date.
        yield* things.update(idOf(7), { f: 1 })
        yield* ask(remote, things, queries.slice(asked / 2))
      }).pipe(Effect.provide(Layer.fresh(layer))),
    60_000
  )
})

describe("a query", () => {
  const Place = Schema.Struct({
    city: Schema.String,
    since: Schema.Date,
    price: Schema.optional(Schema.Number),
    address: Schema.Struct({ street: Schema.String }),
    tags: Schema.Array(Schema.String)
  })
  const place = (n: number): typeof Place.Type => ({
    city: ["Oslo", "Rome", "Bern"][n % 3]!,
    since: new Date(Date.UTC(2020, 0, 1 + n)),
    ...(n % 4 === 0 ? {} : { price: n }),
    address: { street: `${n} Way` },
    tags: n % 2 === 0 ? ["even"] : []
  })
  const filled = (options: StoreOptions, count: number) =>
    Effect.gen(function* () {
      const store = yield* Store.make(options)
      const places = store.collection("places", Place)
      yield* places.importRecords(
        Array.from({ length: count }, (_, n) => ({
          _id: idOf(n),
          ...Schema.encodeSync(Place)(place(n))
        }))
      )
      return { store, places }
    })
  const test = (title: string, body: Effect.Effect<void, unknown, GitRemote>) =>
    it.live(title, () => Effect.provide(body, Memory.layer()), 60_000)

  test(
    "is typed by the JSON of the schema, returns decoded documents, or the selected fields as they are stored",
    Effect.gen(function* () {
      const { places } = yield* filled({}, 12)
      const page = yield* places.query({
        where: {
          city: "Oslo",
          since: { atLeast: "2020-01-02" },
          "address.street": { exists: true },
          tags: "odd"
        }
      })
      assert.deepStrictEqual(page, { documents: [], cursor: null })
      const found = yield* places.query({
        where: {
          city: { in: ["Oslo", "Rome"] },
          or: [{ price: { lessThan: 4 } }, { price: { exists: false } }]
        },
        orderBy: [{ field: "since", order: "desc" }, "_id"],
        limit: 2
      })
      const dates: ReadonlyArray<Date> = found.documents.map(({ since }) => since)
      assert.deepStrictEqual(dates, [place(4).since, place(3).since])
      const some = yield* places.query({ select: ["since", "address.street"], limit: 1 })
      const one: {
        readonly _id: string
        readonly since: string
        readonly address: { readonly street: string }
      } = some.documents[0]!
      assert.deepStrictEqual(one, {
        _id: idOf(0),
        since: "2020-01-01T00:00:00.000Z",
        address: { street: "0 Way" }
      })
      const tags: ReadonlyArray<string> = yield* places.distinct("tags")
      assert.deepStrictEqual(tags, ["even"])
      // @ts-expect-error a date is text in the JSON
      yield* Effect.flip(places.query({ where: { since: { atLeast: new Date(0) } } }))
      // @ts-expect-error there is no such field
      yield* places.query({ where: { town: "Oslo" } })
      // @ts-expect-error of another type
      yield* places.query({ where: { city: 5 } })
      // @ts-expect-error there is no such field
      yield* places.query({ orderBy: "town", select: ["town"] })
    })
  )

  test(
    "by an index stops early, pages without reading again what was shown, and counts without documents",
    Effect.gen(function* () {
      const { places } = yield* filled(
        {
          format: 2,
          indexes: {
            places: [
              { fields: ["city", "since"] },
              { name: "down", fields: [{ field: "price", order: "desc" }] }
            ]
          },
          manifests: { places: ["city"] }
        },
        600
      )
      const explained = (query: Query) => places.explainQuery(query as never)
      const wanted = {
        where: { city: "Rome" },
        orderBy: { field: "since", order: "desc" },
        limit: 5
      } as const
      const how = yield* explained(wanted)
      assert.deepInclude(how, { source: "index", ordered: true, ranges: 1, restricted: 1, current: true })
      assert.strictEqual(how.read.documents, 6)
      assert.isAtMost(how.estimated.entries, 600)
      const first = yield* places.query(wanted)
      const second = yield* places.query({ ...wanted, cursor: first.cursor })
      assert.deepStrictEqual(
        [...first.documents, ...second.documents].map(({ _id }) => _id),
        Array.from({ length: 10 }, (_, n) => idOf(598 - 3 * n))
      )
      const late = yield* explained({ ...wanted, cursor: second.cursor })
      assert.isAtMost(late.read.entries, how.read.entries + 200)
      const down = yield* explained({ orderBy: { field: "price", order: "desc" }, limit: 3 })
      assert.deepInclude(down, { source: "index", ordered: true })
      const range = yield* explained({ where: { city: "Rome", since: { startsWith: "2020-02" } } })
      assert.deepInclude(range, { source: "index", restricted: 2 })
      assert.isAtMost(range.read.documents, 10)
      const covered = yield* explained({
        where: { city: "Bern" },
        select: ["city"],
        orderBy: "city"
      } as Query)
      assert.strictEqual(covered.source, "index")
      const manifest = yield* explained({ select: ["city"], limit: 500 } as Query)
      assert.deepInclude(manifest, {
        source: "manifest",
        read: { entries: manifest.read.entries, documents: 0 }
      })
      assert.strictEqual(yield* places.countWhere({ city: "Bern" }), 200)
      assert.strictEqual(yield* places.countWhere({}), 600)
      assert.deepInclude(yield* explained({ select: [] } as Query), { source: "manifest" })
      const planned = yield* places.explainQuery({ where: { city: "Rome" } }, { run: false })
      assert.deepInclude(planned, { source: "index", read: { entries: 0, documents: 0 } })
      assert.deepStrictEqual(yield* places.distinct("city"), ["Bern", "Oslo", "Rome"])
    })
  )

  test(
    "keeps its place while documents come and go, and refuses the cursor of another query",
    Effect.gen(function* () {
      const { places, store } = yield* filled({}, 9)
      const wanted = { where: { price: { atLeast: 1 } }, orderBy: "city", limit: 2 } as const
      const first = yield* places.query(wanted)
      assert.deepStrictEqual(
        first.documents.map(({ _id }) => _id),
        [idOf(2), idOf(5)]
      )
      yield* places.delete(idOf(5))
      yield* places.insert({ ...place(5), price: 1 }, { id: "d0021" })
      yield* places.insert({ ...place(5), price: 1 }, { id: "d006x" })
      const second = yield* places.query({ ...wanted, cursor: first.cursor })
      assert.deepStrictEqual(
        second.documents.map(({ _id }) => _id),
        ["d006x", idOf(3)]
      )
      const refused = (query: Query) => Effect.flip(places.query(query as never))
      for (const [query, message] of [
        [{ ...wanted, orderBy: "since", cursor: first.cursor }, /not one of this query/],
        [{ ...wanted, where: {}, cursor: first.cursor }, /not one of this query/],
        [{ ...wanted, cursor: first.cursor!.slice(0, -1) }, /not one of this query/],
        [{ ...wanted, cursor: "" }, /not one of this query/],
        [{ ...wanted, cursor: "x".repeat(100_000) }, /not one of this query/],
        [{ ...wanted, limit: 0 }, /at least 1/]
      ] as ReadonlyArray<[Query, RegExp]>) {
        const error = yield* refused(query)
        assert.strictEqual(error._tag, "ValidationError")
        assert.match(error.message, message)
      }
      const other = store.collection("others").query({ ...wanted, cursor: first.cursor } as Query)
      assert.strictEqual((yield* Effect.flip(other))._tag, "ValidationError")
      const many = { ...wanted, limit: 1, where: { and: [wanted.where], price: { atLeast: 1 } } }
      assert.lengthOf((yield* places.query({ ...many, cursor: first.cursor })).documents, 1)
    })
  )

  test(
    "sees one commit: of a view, of a transaction, and while it streams",
    Effect.gen(function* () {
      const { places, store } = yield* filled({ format: 2, indexes: { places: ["city"] } }, 6)
      const ids = (documents: Iterable<{ readonly _id: string }>) => Array.from(documents, ({ _id }) => _id)
      const before = yield* store.snapshot
      const oslo = { where: { city: "Oslo" } }
      const streamed = yield* places.queryAll({ orderBy: "city" }).pipe(
        Stream.tap(() => Effect.ignore(places.delete(idOf(5)))),
        Stream.runCollect
      )
      assert.lengthOf(ids(streamed), 6)
      const inside = yield* store.transaction({}, (transaction) =>
        Effect.gen(function* () {
          const there = transaction.collection("places", Place)
          yield* there.update(idOf(1), { city: "Oslo" })
          return ids((yield* there.query(oslo)).documents)
        })
      )
      assert.deepStrictEqual(inside.result, [idOf(0), idOf(1), idOf(3)])
      assert.deepStrictEqual(ids((yield* before.collection("places", Place).query(oslo)).documents), [
        idOf(0),
        idOf(3)
      ])
      assert.strictEqual(yield* before.collection("places", Place).countWhere({}), 6)
    })
  )

  test(
    "streams on and pages on while others change the format and drop its index",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      yield* filled({ format: 2, indexes: { places: ["city"] }, manifests: { places: ["city"] } }, 700)
      // With options of its own it would refuse the other format.
      const store = yield* Store.make()
      const places = store.collection("places", Place)
      const other = yield* Store.make()
      const dropped = Effect.flatMap(remote.head("main"), (head) =>
        remote.commit("main", head, {
          message: "settings",
          changes: [
            {
              _tag: "Put",
              path: "data/_chainstore.json",
              content: new TextEncoder().encode('{"format": 2, "indexes": {"places": ["price"]}}\n')
            }
          ]
        })
      )
      const wanted = { where: { city: { in: ["Oslo", "Rome"] } }, orderBy: "city", limit: 50 } as const
      const expected = yield* places.query({ ...wanted, limit: 1000 })
      assert.lengthOf(expected.documents, 467)
      let page = yield* places.query(wanted)
      const paged = [...page.documents]
      const changes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        other.reindex({ format: 1 }),
        dropped,
        other.reindex()
      ]
      for (const change of changes) {
        const began = yield* places.explainQuery({ where: { city: "Oslo" } })
        let seen = 0
        const streamed = yield* places.queryAll({ where: wanted.where, orderBy: "city" }).pipe(
          Stream.tap(() => Effect.when(Effect.orDie(change), () => ++seen === 10)),
          Stream.runCollect
        )
        assert.deepStrictEqual(Chunk.toReadonlyArray(streamed), expected.documents, began.source)
        yield* store.invalidate()
        page = yield* places.query({ ...wanted, cursor: page.cursor })
        paged.push(...page.documents)
      }
      assert.deepStrictEqual(paged, expected.documents.slice(0, 200))
      assert.deepInclude(yield* places.explainQuery({ where: { city: "Oslo" } }), { source: "scan" })
      assert.deepInclude(yield* places.explainQuery({ where: { price: 5 } }), {
        source: "index",
        current: true
      })
    })
  )

  test(
    "by an index that was edited by hand has the result of the documents",
    Effect.gen(function* () {
      const remote = yield* GitRemote
      const { places } = yield* filled({ format: 2, indexes: { places: ["city", "price"] } }, 30)
      const query: Query = { where: { city: "Rome" }, orderBy: "price" }
      const expected = yield* places.query(query as never)
      const head = Option.getOrThrow(yield* remote.head("main"))
      yield* remote.commit("main", Option.some(head), {
        message: "by hand",
        changes: [
          {
            _tag: "Put",
            path: "data/_index/places/city/rows/0.json",
            content: new TextEncoder().encode('[\n{"_id": "d000", "city": "Rome"}\n]\n')
          },
          { _tag: "Remove", path: "data/_index/places/price/rows/0.json" }
        ]
      })
      assert.deepStrictEqual(yield* places.query(query as never), expected)
      assert.deepInclude(yield* places.explainQuery(query as never), { source: "scan", current: false })
      assert.strictEqual(yield* places.countWhere({ city: "Rome" }), 10)
      assert.deepStrictEqual(yield* places.distinct("city"), ["Bern", "Oslo", "Rome"])
    })
  )
})
