import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Oid } from "../../domain/identifiers/Oid.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { AnyWhere, Query } from "../../domain/query/Query.js"
import type { Collection } from "../../store/Collection.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const indexing = promiseOf("indexes")
const queries = promiseOf("queries")

type QueriedReads = Pick<Collection, "countWhere" | "distinct" | "query">

const cities: ReadonlyArray<Json> = [
  "London",
  "Oslo",
  "Rome",
  null,
  5,
  ["London", "Rome"],
  [],
  { in: "Rome" }
]

const conditions: ReadonlyArray<AnyWhere> = [
  {},
  { city: "London" },
  { city: { in: ["Rome", "Oslo", 5] }, rank: { atLeast: 2 } },
  { city: { greaterThan: "L", atMost: "Rome" } },
  { city: { startsWith: "R" }, or: [{ rank: { lessThan: 3 } }, { name: { exists: true } }] },
  { not: { city: { exists: true } } },
  { city: { is: { in: "Rome" } } },
  { city: { isNot: "London" }, rank: { in: [1, 3, 5] } }
]

const orders: ReadonlyArray<NonNullable<Query["orderBy"]>> = [
  [],
  "city",
  ["city", { field: "rank", order: "desc" }],
  [{ field: "city", order: "desc" }],
  [{ field: "rank", order: "desc" }, "_id"]
]

const ids = (found: Iterable<{ readonly _id?: string }>) => Array.from(found, ({ _id }) => _id)

/** The result of a query, in pages, as a stream, and as a number. */
const resultOf = (collection: Collection, query: Query) =>
  Effect.gen(function* () {
    const found: Array<JsonObject> = []
    let cursor: string | null = null
    do {
      const page: { readonly documents: ReadonlyArray<JsonObject>; readonly cursor: string | null } =
        yield* collection.query({ ...query, select: ["city", "rank", "name"], limit: 3, cursor })
      found.push(...page.documents)
      cursor = page.cursor
    } while (cursor !== null)
    const streamed = yield* Stream.runCollect(collection.queryAll(query))
    const count = yield* collection.countWhere(query.where as AnyWhere)
    return [found, Chunk.toReadonlyArray(streamed).map(({ _id }) => _id), count]
  })

/** A query has the same result with and without indexes, also where others committed documents alone. */
export const queriesAgree = drawnLaw(
  "queriesAgree",
  queries(
    "indexes do not change the result of a query",
    "queries",
    "Results never depend on indexes, which only change what is read."
  ),
  ({ fields, people, push, expectEqual, store }) =>
    Effect.gen(function* () {
      const plain = store.collection("plain")
      const documents = fields.map((one, n): readonly [string, JsonObject] => [
        `d${n}`,
        { ...one, city: cities[n % 8]!, rank: n % 5 }
      ])
      yield* store.batch({}, (batch) =>
        Effect.forEach([...documents, ["e", { rank: 2 }] as const], ([id, document]) =>
          Effect.zipRight(batch.put("people", id, document), batch.put("plain", id, document))
        )
      )
      const agree = Effect.forEach(conditions, (where, at) => {
        const query = { where, orderBy: orders[at % orders.length]! }
        return Effect.flatMap(
          Effect.all([resultOf(people, query), resultOf(plain, query)]),
          ([indexed, scanned]) => expectEqual(JSON.stringify(query), indexed, scanned)
        )
      })
      yield* agree
      const byHand = JSON.stringify({ city: ["Oslo", "London"], rank: 4 })
      yield* push({
        "people/d1.json": byHand,
        "plain/d1.json": byHand,
        "people/d2.json": null,
        "plain/d2.json": null
      })
      yield* agree
      yield* expectEqual(
        "the values of a field",
        yield* people.distinct("city"),
        yield* plain.distinct("city")
      )
    }),
  {
    format: 2,
    // Others commit by the paths of the plain layout.
    shardDepth: 0,
    indexes: { people: ["city", { fields: ["city", { field: "rank", order: "desc" }] }, "rank"] },
    manifests: { people: ["city", "rank", "name"] }
  }
)

/** A condition of a query follows the dots of a path, `findBy` does not; with an index of the path, too. */
export const wholeNames = law(
  "wholeNames",
  indexing(
    "findBy takes the name of a member as it is, a query follows its dots",
    "indexes",
    "Format 1 and `findBy` support only whole names."
  ),
  ({ people, expectEqual, store }) =>
    Effect.gen(function* () {
      const documents: Readonly<Record<string, JsonObject>> = {
        nested: { address: { city: "Rome" } },
        whole: { "address.city": "Rome" },
        both: { "address.city": "Oslo", address: { city: "Rome" } },
        other: { address: "Rome", city: "Rome" }
      }
      const collections = [people, store.collection("plain")]
      yield* store.batch({}, (batch) =>
        Effect.forEach(Object.entries(documents), ([id, document]) =>
          Effect.forEach(collections, ({ name }) => batch.put(name, id, document))
        )
      )
      for (const collection of collections) {
        const how = collection === people ? "with an index" : "by a scan"
        yield* expectEqual(`findBy ${how}`, ids(yield* collection.findBy("address.city", "Rome")), ["whole"])
        yield* expectEqual(
          `query ${how}`,
          ids((yield* collection.query({ where: { "address.city": "Rome" } })).documents),
          ["nested", "whole"]
        )
      }
    }),
  { format: 2, indexes: { people: ["address.city"] } }
)

/** Queries and `findBy` do not silently leave out a file that contains no JSON object. */
export const unreadableFiles = law(
  "unreadableFiles",
  queries(
    "a file without a JSON object is an empty document, and an error where it is read",
    "conditions",
    "A file without a JSON object counts as an empty document. If a query finds it, `onInvalid` determines what happens."
  ),
  ({ people, push, expectEqual, expectFailure }) =>
    Effect.gen(function* () {
      yield* people.insert({ city: "Rome" }, { id: "rome" })
      yield* people.insert({ rank: 1 }, { id: "nowhere" })
      yield* push({ "people/broken.json": "no JSON" })
      const skip = { onInvalid: "skip" } as const
      const nowhere = { where: { city: { exists: false } } } as const
      yield* expectFailure("get", people.get("broken"), "ValidationError")
      yield* expectFailure("all", Stream.runCollect(people.all()), "ValidationError")
      yield* expectFailure("findBy", people.findBy("city", "Rome"), "ValidationError")
      yield* expectFailure("a query that finds it", people.query(nowhere), "ValidationError")
      yield* expectEqual(
        "a query that does not find it",
        ids((yield* people.query({ where: { city: "Rome" } })).documents),
        ["rome"]
      )
      yield* expectEqual("all, skipping", ids(yield* Stream.runCollect(people.all(skip))), [
        "nowhere",
        "rome"
      ])
      yield* expectEqual("findBy, skipping", ids(yield* people.findBy("city", "Rome", skip)), ["rome"])
      yield* expectEqual("a query, skipping", ids((yield* people.query({ ...nowhere, ...skip })).documents), [
        "nowhere"
      ])
      yield* expectEqual("its id is in the list", yield* people.list(), ["broken", "nowhere", "rome"])
    }),
  { shardDepth: 0 }
)

/** The pages of a query follow each other by their cursor, whatever others add and remove between two of them. */
export const queryPages = law(
  "queryPages",
  queries(
    "the pages of a query neither skip nor repeat documents",
    "order-and-pages",
    "pages neither skip nor repeat documents when others are added or removed."
  ),
  ({ open, people, expectEqual, expectFailure, store }) =>
    Effect.gen(function* () {
      const others = yield* open()
      for (const collection of [people, store.collection("plain")]) {
        const how = collection === people ? "with an index" : "by a scan"
        yield* store.batch({}, (batch) =>
          Effect.forEach(["a", "b", "c", "d", "e", "f"], (id, rank) =>
            batch.put(collection.name, id, { rank, name: id })
          )
        )
        const query = { orderBy: [{ field: "rank", order: "desc" }] } as const
        const first = yield* collection.query({ ...query, limit: 2 })
        yield* expectEqual(`the first page ${how}`, ids(first.documents), ["f", "e"])
        yield* others.batch({}, (batch) =>
          Effect.all([
            batch.put(collection.name, "before", { rank: 9, name: "before" }),
            batch.put(collection.name, "after", { rank: 2.5, name: "after" }),
            batch.delete(collection.name, "e"),
            batch.delete(collection.name, "b")
          ])
        )
        const { cursor } = first
        const second = yield* collection.query({ ...query, limit: 2, cursor })
        yield* expectEqual(`the second page ${how}`, ids(second.documents), ["d", "after"])
        const rest = yield* collection.query({ ...query, limit: 4, cursor, select: ["name"] })
        yield* expectEqual(
          `the rest with another limit and select ${how}`,
          [rest.documents, rest.cursor],
          [["d", "after", "c", "a"].map((id) => ({ _id: id, name: id })), null]
        )
        yield* expectFailure(
          "the cursor of another order",
          collection.query({ orderBy: "rank", cursor }),
          "ValidationError"
        )
        yield* expectFailure(
          "the cursor of another condition",
          collection.query({ ...query, where: { name: { exists: true } }, cursor }),
          "ValidationError"
        )
        const foreign: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
          "another collection": store.collection("empty").query({ ...query, cursor }),
          "another field": collection.query({ orderBy: [{ field: "name", order: "desc" }], cursor }),
          "one field more": collection.query({ orderBy: [...query.orderBy, "name"], cursor }),
          "no order": collection.query({ cursor }),
          "another value": collection.query({ ...query, where: { rank: { atMost: 5 } }, cursor }),
          "a text that is none": collection.query({ ...query, cursor: "none" }),
          "a part of it": collection.query({ ...query, cursor: cursor!.slice(0, -1) })
        }
        for (const [what, page] of Object.entries(foreign))
          yield* expectFailure(`a cursor ${how}, ${what}`, page, "ValidationError")
        yield* expectEqual(
          `a cursor ${how} of the same query in other words`,
          ids((yield* collection.query({ ...query, where: { and: [] }, limit: 1, cursor })).documents),
          ["d"]
        )
      }
    }),
  { format: 2, indexes: { people: [{ fields: [{ field: "rank", order: "desc" }] }] } }
)

/** Views, other branches and transactions have queries too, and each of them reads its own documents. */
export const queriedViews = law(
  "queriedViews",
  queries(
    "a query of a view, a branch or a transaction reads its documents",
    "queries",
    "All of them are methods of collections, of views (`store.at`, `store.snapshot`), of `store.onBranch` and of transactions"
  ),
  ({ head, open, people, remote, root, expectEqual, store }) =>
    Effect.gen(function* () {
      const others = (yield* open()).collection("people")
      yield* store.batch({}, (batch) =>
        Effect.forEach(["a", "b", "c", "d"], (id) => batch.put("people", id, { city: "Rome", n: 1 }))
      )
      const branch = `queried-${root.replaceAll("/", "-")}`
      const first = (yield* head)!
      yield* remote.createBranch(branch, first as Oid)
      const view = (yield* store.snapshot).collection("people")
      const query = { where: { city: "Rome" } } as const
      const seen = yield* Stream.runCollect(
        Stream.mapEffect(people.queryAll(query), ({ _id, n }) =>
          Effect.as(_id === "a" ? others.update("d", { n: 2 }) : Effect.void, [_id, n])
        )
      )
      yield* expectEqual("queryAll reads one commit", Array.from(seen), [
        ["a", 1],
        ["b", 1],
        ["c", 1],
        ["d", 1]
      ])
      yield* others.update("a", { city: "Oslo" })
      const results = (of: QueriedReads) =>
        Effect.all([
          Effect.map(of.query(query), ({ documents }) => ids(documents)),
          of.countWhere(query.where),
          of.distinct("city")
        ])
      const before = [["a", "b", "c", "d"], 4, ["Rome"]]
      const after = [["b", "c", "d"], 3, ["Oslo", "Rome"]]
      yield* expectEqual("the store", yield* results(people), after)
      yield* expectEqual("a snapshot", yield* results(view), before)
      yield* expectEqual(
        "an earlier commit",
        yield* results((yield* store.at(first)).collection("people")),
        before
      )
      yield* expectEqual(
        "another branch",
        yield* results(store.onBranch(branch).collection("people")),
        before
      )
      yield* remote.deleteBranch(branch)
      const inside = yield* store.transaction({}, (transaction) => {
        const own = transaction.collection("people")
        return Effect.zipRight(own.delete("b"), results(own))
      })
      yield* expectEqual("a transaction", inside.result, [["c", "d"], 2, ["Oslo", "Rome"]])
      const page = yield* people.query({ ...query, explain: true })
      const scan = yield* people.explainQuery({ where: { n: 1 } })
      yield* expectEqual(
        "the explanations",
        [page.explanation.source, page.explanation.current, scan.source],
        ["index", true, "scan"]
      )
    }),
  { format: 2, indexes: { people: ["city"] } }
)
