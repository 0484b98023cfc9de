import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { AnyWhere, Query } from "../../domain/query/Query.js"
import type { Collection } from "../../store/Collection.js"
import { drawnLaw, law, promiseOf } from "./StoreLaw.js"

const indexing = promiseOf("indexes")
const queries = promiseOf("queries")

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
  ({ fields, people, push, expectEqual: same, store }) =>
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
          ([indexed, scanned]) => same(JSON.stringify(query), indexed, scanned)
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
      yield* same("the values of a field", yield* people.distinct("city"), yield* plain.distinct("city"))
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
  ({ people, expectEqual: same, store }) =>
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
        const ids = (found: Iterable<{ readonly _id: string }>) => Array.from(found, ({ _id }) => _id)
        const how = collection === people ? "with an index" : "by a scan"
        yield* same(`findBy ${how}`, ids(yield* collection.findBy("address.city", "Rome")), ["whole"])
        yield* same(
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
  ({ people, push, expectEqual: same, expectFailure: refused }) =>
    Effect.gen(function* () {
      yield* people.insert({ city: "Rome" }, { id: "rome" })
      yield* people.insert({ rank: 1 }, { id: "nowhere" })
      yield* push({ "people/broken.json": "no JSON" })
      const skip = { onInvalid: "skip" } as const
      const ids = (found: Iterable<{ readonly _id: string }>) => Array.from(found, ({ _id }) => _id)
      const nowhere = { where: { city: { exists: false } } } as const
      yield* refused("get", people.get("broken"), "ValidationError")
      yield* refused("all", Stream.runCollect(people.all()), "ValidationError")
      yield* refused("findBy", people.findBy("city", "Rome"), "ValidationError")
      yield* refused("a query that finds it", people.query(nowhere), "ValidationError")
      yield* same(
        "a query that does not find it",
        ids((yield* people.query({ where: { city: "Rome" } })).documents),
        ["rome"]
      )
      yield* same("all, skipping", ids(yield* Stream.runCollect(people.all(skip))), ["nowhere", "rome"])
      yield* same("findBy, skipping", ids(yield* people.findBy("city", "Rome", skip)), ["rome"])
      yield* same("a query, skipping", ids((yield* people.query({ ...nowhere, ...skip })).documents), [
        "nowhere"
      ])
      yield* same("its id is in the list", yield* people.list(), ["broken", "nowhere", "rome"])
    }),
  { shardDepth: 0 }
)
