import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { AnyWhere, Query } from "../../domain/query/Query.js"
import type { Collection } from "../../store/Collection.js"
import { type LawContext, law, promiseOf } from "./StoreLaw.js"

const queries = promiseOf("queries")

const idsOf = (found: Iterable<{ readonly _id?: string }>) => Array.from(found, ({ _id }) => _id)

/** The collections of a law: `people` with indexes, and another one without. */
const collectionsOf = ({ people, store }: Pick<LawContext, "people" | "store">) =>
  [
    [people, "with an index"],
    [store.collection("plain"), "by a scan"]
  ] as const

/** Stores the same documents in each collection of a law. */
const storeAll = (
  given: Pick<LawContext, "people" | "store">,
  documents: Readonly<Record<string, JsonObject>>
) =>
  given.store.batch({}, (batch) =>
    Effect.forEach(collectionsOf(given), ([{ name }]) =>
      Effect.forEach(Object.entries(documents), ([id, document]) => batch.put(name, id, document))
    )
  )

/** Queries each collection, and expects the ids in this order. */
const expectIds = (
  { expectEqual, ...given }: Pick<LawContext, "expectEqual" | "people" | "store">,
  cases: ReadonlyArray<readonly [query: Query, ids: ReadonlyArray<string>]>
) =>
  Effect.forEach(cases, ([query, expected]) =>
    Effect.forEach(collectionsOf(given), ([collection, how]) =>
      Effect.gen(function* () {
        const what = `${JSON.stringify(query)} ${how}`
        yield* expectEqual(what, idsOf((yield* collection.query(query)).documents), expected)
        const count = yield* collection.countWhere((query.where ?? {}) as AnyWhere)
        if (query.limit === undefined) yield* expectEqual(`the number of ${what}`, count, expected.length)
      })
    )
  )

/** A value of each kind, in the order of ids. */
const values: Readonly<Record<string, Json>> = {
  deep: [[1, 3]],
  empty: [],
  fox: "\u{1f98a}",
  list: [1, 3],
  lower: "london",
  null: null,
  object: { x: 1 },
  objects: [{ x: 1 }, "Oslo"],
  one: 1,
  other: { x: 1, y: 2 },
  text: "1",
  tilde: "\uff5e",
  two: 2,
  upper: "London",
  yes: true
}

/** The ids of all documents but some; `zz` has no value. */
const without = (...ids: ReadonlyArray<string>) =>
  [...Object.keys(values), "zz"].filter((id) => !ids.includes(id))

/** The documents that each operator finds. */
const operators: ReadonlyArray<readonly [AnyWhere, ReadonlyArray<string>]> = [
  [{}, without()],
  [{ v: 1 }, ["list", "one"]],
  [{ v: "1" }, ["text"]],
  [{ v: null }, ["null"]],
  [{ v: true }, ["yes"]],
  [{ v: { is: { x: 1 } } }, ["object", "objects"]],
  [{ v: { is: [1, 3] } }, ["deep", "list"]],
  [{ v: { is: [] } }, ["empty"]],
  [{ v: { isNot: 1 } }, without("list", "one")],
  [{ v: { isNot: null } }, without("null")],
  [{ v: { in: [2, "London"] } }, ["two", "upper"]],
  [{ v: { in: [{ x: 1 }, 2] } }, ["object", "objects", "two"]],
  [{ v: { in: [[1, 3], null] } }, ["deep", "list", "null"]],
  [{ v: { lessThan: 2 } }, ["list", "one"]],
  [{ v: { atMost: 2 } }, ["list", "one", "two"]],
  [{ v: { greaterThan: 2 } }, ["list"]],
  [{ v: { atLeast: 2 } }, ["list", "two"]],
  [{ v: { greaterThan: 1, lessThan: 3 } }, ["two"]],
  [{ v: { lessThan: "London" } }, ["text"]],
  [{ v: { atMost: "London" } }, ["text", "upper"]],
  [{ v: { greaterThan: "london" } }, ["fox", "tilde"]],
  [{ v: { greaterThan: "\uff5e" } }, ["fox"]],
  [{ v: { atLeast: "\uff5e" } }, ["fox", "tilde"]],
  [{ v: { startsWith: "Lo" } }, ["upper"]],
  [{ v: { startsWith: "lo" } }, ["lower"]],
  [{ v: { startsWith: "O" } }, ["objects"]],
  [{ v: { exists: true } }, without("zz")],
  [{ v: { exists: false } }, ["zz"]],
  [{ v: { atLeast: 1 }, w: "a" }, ["list"]],
  [{ and: [{ v: { atLeast: 1 } }, { v: { atMost: 1 } }] }, ["list", "one"]],
  [{ or: [{ v: 2 }, { w: "a" }] }, ["list", "two"]],
  [{ not: { or: [{ v: { exists: true } }, { w: "b" }] } }, []],
  [{ or: [{ v: 2 }, { v: "London" }], not: { w: "c" } }, ["two", "upper"]]
]

/** Each operator finds the documents that the table of the documentation says, by an index as by a scan. */
export const queryConditions = law(
  "queryConditions",
  queries(
    "each operator finds what its row says",
    "conditions",
    "A condition of a field is a value that it equals, or operators:"
  ),
  (given) =>
    Effect.gen(function* () {
      const { expectFailure, people } = given
      const documents = Object.entries(values).map(([id, v]) => [id, id === "list" ? { v, w: "a" } : { v }])
      yield* storeAll(given, { ...Object.fromEntries(documents), zz: { w: "b" } })
      yield* expectIds(
        given,
        operators.map(([where, ids]) => [{ where }, ids])
      )
      yield* expectFailure(
        "an undefined value",
        people.query({ where: { v: undefined as never } }),
        "ValidationError"
      )
    }),
  { format: 2, indexes: { people: ["v"] } }
)

/** Values of each type in their order, missing first; equal ones are ordered by id. */
const ordered: ReadonlyArray<readonly [id: string, document: JsonObject]> = [
  ["m", {}],
  ["n", { v: null }],
  ["false", { v: false }],
  ["true", { v: true }],
  ["negative", { v: -5 }],
  ["one", { v: 1 }],
  ["one-more", { v: 1 }],
  ["ten", { v: 10 }],
  ["upper", { v: "Z" }],
  ["lower", { v: "a" }],
  ["tilde", { v: "\uff5e" }],
  ["fox", { v: "\u{1f98a}" }],
  ["object", { v: { a: 1 } }]
]

/** Equal and different values of two fields, and lists. */
const pairs: Readonly<Record<string, JsonObject>> = {
  a: { x: 1, y: 1, n: [1, 9] },
  b: { x: 1, y: 1, n: [5] },
  c: { x: 1, y: 2, n: [0, 4] },
  d: { x: 2, y: 1, n: 3 }
}

const inOrder: ReadonlyArray<readonly [Query, ReadonlyArray<string>]> = [
  [{}, ["a", "b", "c", "d"]],
  [{ orderBy: "x" }, ["a", "b", "c", "d"]],
  [{ orderBy: { field: "x", order: "desc" } }, ["d", "c", "b", "a"]],
  [{ orderBy: ["x", { field: "y", order: "desc" }] }, ["c", "b", "a", "d"]],
  [{ orderBy: [{ field: "x", order: "desc" }, "y"] }, ["d", "a", "b", "c"]],
  [{ orderBy: ["x", { field: "_id", order: "desc" }] }, ["c", "b", "a", "d"]],
  [{ orderBy: { field: "_id", order: "desc" }, limit: 2 }, ["d", "c"]],
  [{ orderBy: "n" }, ["c", "a", "d", "b"]],
  [{ orderBy: { field: "n", order: "desc" } }, ["a", "b", "c", "d"]],
  // One condition selects the elements by which a list is ordered.
  [{ where: { n: { atLeast: 2 } }, orderBy: "n" }, ["d", "c", "b", "a"]],
  [{ where: { n: { atMost: 4 } }, orderBy: { field: "n", order: "desc" } }, ["c", "d", "a"]],
  // Several do not, nor does one that not every document has to satisfy.
  [{ where: { and: [{ n: { atLeast: 4 } }, { n: { atMost: 9 } }] }, orderBy: "n" }, ["c", "a", "b"]],
  [{ where: { or: [{ n: { atLeast: 4 } }, { x: 2 }] }, orderBy: "n" }, ["c", "a", "d", "b"]]
]

/** Documents are in the order of the fields' values, then of their ids, by an index as by a scan. */
export const queryOrders = law(
  "queryOrders",
  queries(
    "documents are in the order of their values, and equal ones in the order of their ids",
    "order-and-pages",
    "Documents that are equal in all fields are ordered by `_id`, in the direction of the last field; without `orderBy` the order is by `_id`."
  ),
  (given) =>
    Effect.gen(function* () {
      yield* storeAll(given, Object.fromEntries(ordered))
      const ids = ordered.map(([id]) => id)
      yield* expectIds(given, [
        [{ orderBy: "v" }, ids],
        [{ orderBy: { field: "v", order: "desc" } }, [...ids].reverse()]
      ])
      yield* given.store.batch({}, (batch) =>
        Effect.forEach(collectionsOf(given), ([{ name }]) =>
          Effect.forEach(ids, (id) => batch.delete(name, id))
        )
      )
      yield* storeAll(given, pairs)
      yield* expectIds(given, inOrder)
    }),
  {
    format: 2,
    indexes: {
      people: [
        "v",
        { fields: [{ field: "v", order: "desc" }], name: "down" },
        "n",
        { fields: ["x", { field: "y", order: "desc" }], name: "xy" }
      ]
    }
  }
)

const chosen: Readonly<Record<string, JsonObject>> = {
  a: { "x.y": 1, x: { y: 2, z: 3 }, t: [] },
  b: { x: { y: 4, z: 5 }, t: ["new", "old"] },
  c: { x: 6, t: null },
  d: { t: "new" },
  e: { t: [["new"], "old"] }
}

/** What `select`, `distinct`, `queryAll` and `explainQuery` give for the same documents. */
const expectParts = (collection: Collection, how: string, expectEqual: LawContext["expectEqual"]) =>
  Effect.gen(function* () {
    const { documents } = yield* collection.query({ select: ["x.y", "x.z"] })
    yield* expectEqual(`selected fields ${how}`, documents, [
      { _id: "a", "x.y": 1, x: { z: 3 } },
      { _id: "b", x: { y: 4, z: 5 } },
      { _id: "c" },
      { _id: "d" },
      { _id: "e" }
    ])
    yield* expectEqual(`distinct values ${how}`, yield* collection.distinct("t"), [
      null,
      "new",
      "old",
      ["new"]
    ])
    yield* expectEqual(`distinct values of a path ${how}`, yield* collection.distinct("x.y"), [1, 4])
    const limited = yield* Stream.runCollect(collection.queryAll({ where: { t: "new" }, limit: 1 }))
    yield* expectEqual(`queryAll with a limit ${how}`, idsOf(limited), ["b"])
    yield* expectEqual(
      `queryAll without one ${how}`,
      idsOf(yield* Stream.runCollect(collection.queryAll({ where: { t: "new" } }))),
      ["b", "d"]
    )
  })

/** Selected fields, distinct values and explanations are those of the documents. */
export const selections = law(
  "selections",
  queries(
    "a path names a whole name or nested members, and the elements of a list are values",
    "conditions",
    "A path names the member with this whole name or, if there is none, a nested member by the names between its dots."
  ),
  (given) =>
    Effect.gen(function* () {
      yield* storeAll(given, chosen)
      for (const [collection, how] of collectionsOf(given))
        yield* expectParts(collection, how, given.expectEqual)
      const plain = given.store.collection("plain")
      const reads = (query: Query, run = true) =>
        Effect.map(plain.explainQuery(query, { run }), ({ read }) => read.documents)
      // One more than the page has tells whether another page follows.
      yield* given.expectEqual("the reads of a page of two", (yield* reads({ limit: 2 })) <= 3, true)
      yield* given.expectEqual("the reads of a page", yield* reads({}), 5)
      yield* given.expectEqual("the reads without a run", yield* reads({}, false), 0)
    }),
  { format: 2, indexes: { people: ["t", "x.y"] }, manifests: { people: ["x.y", "t"] } }
)
