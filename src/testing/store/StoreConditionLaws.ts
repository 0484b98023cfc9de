import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { JsonOrder } from "../../domain/json/JsonOrder.js"
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

const nested = (levels: number) =>
  Array.from({ length: levels }).reduce<AnyWhere>((where) => ({ not: where }), { v: 1 })

const comparisons = (count: number): AnyWhere => ({ or: Array.from({ length: count }, (_, v) => ({ v })) })

/** Conditions that every query refuses. */
const refusedConditions: Readonly<Record<string, unknown>> = {
  "an undefined value": { v: undefined },
  "an operator of undefined": { v: { is: undefined } },
  "a list with undefined": { v: { in: [1, undefined] } },
  "an undefined value in an or": { or: [{ v: undefined }] },
  "an undefined value in a not": { not: { v: undefined } },
  "an undefined value beside another one": { v: 1, w: undefined },
  "a field named and": { and: 1 },
  "a field named or": { or: "x" },
  "a field named not": { not: true },
  "a list": { v: [1] },
  "an operator that is none": { v: { like: "x" } },
  "1,001 comparisons": comparisons(1001),
  "1,001 values": { v: { in: Array.from({ length: 1001 }, (_, n) => n) } },
  "33 levels": nested(33),
  "a bound of undefined": { v: { atLeast: undefined } },
  "a bound of undefined beside another one": { v: { atLeast: 0, atMost: undefined } },
  "too many characters": { v: "x".repeat(1_000_000) },
  "too many characters together": { v: "x".repeat(600_000), w: "x".repeat(600_000) }
}

/** The largest conditions that are accepted. */
const largestConditions: Readonly<Record<string, AnyWhere>> = {
  "1,000 comparisons": comparisons(1000),
  "1,000 values": { v: { in: Array.from({ length: 1000 }, (_, n) => n) } },
  "32 levels": nested(32)
}

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
      const { expectEqual, expectFailure, people, push, store } = given
      const documents = Object.entries(values).map(([id, v]) => [id, id === "list" ? { v, w: "a" } : { v }])
      yield* storeAll(given, { ...Object.fromEntries(documents), zz: { w: "b" } })
      yield* expectIds(
        given,
        operators.map(([where, ids]) => [{ where }, ids])
      )
      for (const [what, where] of Object.entries(refusedConditions))
        yield* expectFailure(`a query by ${what}`, people.query({ where: where as never }), "ValidationError")
      yield* expectFailure(
        "the number by an undefined value",
        people.countWhere({ v: undefined as never }),
        "ValidationError"
      )
      for (const [what, where] of Object.entries(largestConditions))
        yield* expectEqual(what, yield* store.collection("empty").countWhere(where), 0)
      const either = yield* people.explainQuery({ where: { or: [{ v: 1 }, { v: "1" }] } }, { run: false })
      yield* expectEqual("the source of an or of values of one field", either.source, "index")
      // JavaScript cannot represent this number.
      const infinite = '{"v": 1e400, "w": "a"}'
      yield* push({ "people/infinite.json": infinite, "plain/infinite.json": infinite })
      yield* expectIds(given, [
        [{ where: { v: { exists: false } } }, ["infinite", "zz"]],
        [{ where: { v: { isNot: 1 } } }, [...without("list", "one"), "infinite"].sort()],
        [{ where: { v: { atLeast: 1 }, w: "a" } }, ["list"]]
      ])
    }),
  { format: 2, indexes: { people: ["v"] }, shardDepth: 0 }
)

/** Values of each type in their order, missing first; equal ones are ordered by id. */
const ordered: ReadonlyArray<readonly [id: string, document: JsonObject]> = [
  ["m", {}],
  ["n", { v: null }],
  ["false", { v: false }],
  ["true", { v: true }],
  ["negative", { v: -5 }],
  ["zero", { v: 0 }],
  ["zero-minus", { v: -0 }],
  ["one", { v: 1 }],
  ["one-more", { v: 1 }],
  ["ten", { v: 10 }],
  ["digits", { v: "10" }],
  ["two-digits", { v: "2" }],
  ["upper", { v: "Z" }],
  ["lower", { v: "a" }],
  ["z", { v: "z" }],
  ["composed", { v: "\u00e9" }],
  ["tilde", { v: "\uff5e" }],
  ["fox", { v: "\u{1f98a}" }],
  // A list is ordered by its elements, so a list of one list is ordered as this one is.
  ["list-empty", { v: [[]] }],
  ["list", { v: [[1]] }],
  ["list-longer", { v: [[1, 0]] }],
  ["list-two", { v: [[2]] }],
  ["list-text", { v: [["1"]] }],
  ["object-empty", { v: {} }],
  ["object", { v: { a: 1 } }],
  ["object-longer", { v: { b: 0, a: 1 } }],
  ["object-list", { v: { a: [1, 2], b: 0 } }],
  ["key-first", { v: { aa: 2 } }],
  ["key-second", { v: { b: 1 } }]
]

/** Values whose spelling in a file matters, and the ids of the ordered documents that they follow. */
const spelled: Readonly<Record<string, readonly [text: string, after: string]>> = {
  "one-point": ["1.0", "one-more"],
  "zero-point": ["-0.0", "zero-minus"],
  "past-b": ["9007199254740992", "ten"],
  "past-a": ["9007199254740993", "past-b"],
  "object-spelled": ['{"a": 1.0}', "object"],
  "text-half": ['"\\ud83e"', "tilde"]
}

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
      yield* storeAll(given, pairs)
      yield* expectIds(given, inOrder)
      yield* storeAll(given, Object.fromEntries(ordered))
      const ids = [...Object.keys(pairs), ...ordered.map(([id]) => id)]
      yield* expectIds(given, [[{ orderBy: "v" }, ids]])
      const inMemory = [...ordered]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .sort(([, one], [, other]) => JsonOrder(one["v"], other["v"]))
      yield* given.expectEqual(
        "the order in memory",
        inMemory.map(([id]) => id),
        ordered.map(([id]) => id)
      )
      yield* given.push(
        Object.fromEntries(
          Object.entries(spelled).flatMap(([id, [text]]) =>
            collectionsOf(given).map(([{ name }]) => [`${name}/${id}.json`, `{"v": ${text}}`])
          )
        )
      )
      for (const [id, [, after]] of Object.entries(spelled)) ids.splice(ids.indexOf(after) + 1, 0, id)
      yield* expectIds(given, [[{ orderBy: { field: "v", order: "desc" } }, ids.reverse()]])
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
    },
    shardDepth: 0
  }
)

/** Documents of three cities, one without a city, and prices from 0 to 5. */
const priced = Object.fromEntries(
  Array.from({ length: 24 }, (_, n) => [
    `d${String(n).padStart(2, "0")}`,
    {
      price: n % 6,
      since: 100 - n,
      state: { now: n % 4 === 0 ? "active" : "old" },
      tags: n % 3 === 0 ? ["new"] : [],
      ...(n === 5 ? {} : { city: ["Rome", "Oslo", "Bonn"][n % 3]! })
    }
  ])
)

const bySince = { field: "since", order: "desc" } as const
const either = ["Rome", "Oslo"]

type PlannedQuery = Query & { readonly select?: ReadonlyArray<string> }

/** What a query reads: its source, whether that has its order, and the number of documents. A page reads one more than its limit. */
const planned: ReadonlyArray<
  readonly [
    query: PlannedQuery,
    source: string,
    isOrdered: boolean,
    documents: number,
    ids?: ReadonlyArray<string>
  ]
> = [
  [{ where: { city: "Rome" }, orderBy: "since", limit: 3 }, "city_since", true, 4, ["d21", "d18", "d15"]],
  [
    { where: { city: { in: either } }, orderBy: bySince, limit: 3 },
    "city_since",
    true,
    4,
    ["d00", "d01", "d03"]
  ],
  [{ where: { or: either.map((city) => ({ city })) }, orderBy: bySince, limit: 3 }, "city_since", true, 4],
  [{ where: { city: "Rome", tags: "new" }, orderBy: "price", limit: 3 }, "city_since", false, 8],
  [{ where: { city: "Rome", since: { atLeast: 95 } } }, "city_since", false, 2, ["d00", "d03"]],
  [{ where: { price: { atLeast: 1, lessThan: 3 } } }, "price", false, 8],
  [{ where: { price: 0, "state.now": "active" } }, "active", true, 2, ["d00", "d12"]],
  [{ where: { price: 0 } }, "price", true, 4],
  [{ orderBy: "price", limit: 2 }, "price", true, 3, ["d00", "d06"]],
  [{ orderBy: { field: "price", order: "desc" }, limit: 2 }, "price", true, 3, ["d23", "d17"]],
  [{ orderBy: "since", limit: 2 }, "scan", false, 24, ["d23", "d22"]],
  [{ where: { or: [{ city: "Rome" }, { price: 1 }] } }, "scan", true, 24],
  [{ limit: 2 }, "scan", true, 3, ["d00", "d01"]],
  [{ select: ["city"] }, "manifest", true, 1],
  [{ select: ["city", "price"], limit: 2 }, "scan", true, 3]
]

/** A query uses the index that the documentation says, and reads the documents of a page alone. */
export const queryPlans = law(
  "queryPlans",
  queries(
    "a query uses the index whose first fields it restricts most",
    "what-is-read",
    "the planner chooses the index whose first fields are restricted most, by equal values"
  ),
  ({ people, push, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* store.batch({}, (batch) =>
        Effect.forEach(Object.entries(priced), ([id, document]) => batch.put("people", id, document))
      )
      const plan = (query: PlannedQuery) =>
        Effect.map(people.explainQuery(query), ({ current, index, ordered, read, reason, source }) => {
          const name = source === "index" ? index?.split("/").at(-1) : source
          return { current, reason, shown: [name, ordered, read.documents] }
        })
      for (const [query, source, isOrdered, documents, ids] of planned) {
        const { current, shown } = yield* plan(query)
        yield* expectEqual(JSON.stringify(query), [current, ...shown], [true, source, isOrdered, documents])
        if (ids !== undefined)
          yield* expectEqual(
            `the documents of ${JSON.stringify(query)}`,
            idsOf((yield* people.query(query)).documents),
            ids
          )
      }
      // A document that another program adds is read beside the index until the next write.
      yield* push({ "people/d99.json": '{"city": "Rome", "since": 1}', "people/d21.json": null })
      const [[query]] = planned as unknown as readonly [readonly [PlannedQuery]]
      const behind = yield* plan(query)
      yield* expectEqual("an index that is behind", behind.current, false)
      yield* expectEqual("the number of documents that differ", behind.reason.includes("2 documents"), true)
      const now = ["d99", "d18", "d15"]
      yield* expectEqual("the documents now", idsOf((yield* people.query(query)).documents), now)
      yield* people.insert({}, { id: "z" })
      const after = yield* plan(query)
      yield* expectEqual(
        "after the next write",
        [after.current, after.shown],
        [true, ["city_since", true, 4]]
      )
      yield* expectEqual("the documents after it", idsOf((yield* people.query(query)).documents), now)
    }),
  {
    format: 2,
    indexes: {
      people: [
        "price",
        { fields: ["city", "since"] },
        { fields: ["price"], name: "active", where: { "state.now": "active" } }
      ]
    },
    manifests: { people: ["city"] },
    shardDepth: 0
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
      yield* given.store.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 101 }), (_, n) => batch.put("many", `d${n}`, {}))
      )
      const many = given.store.collection("many")
      const page = yield* many.query({})
      yield* given.expectEqual(
        "documents of a page without a limit, and of a stream without one",
        [page.documents.length, page.cursor === null, (yield* Stream.runCollect(many.queryAll({}))).length],
        [100, false, 101]
      )
    }),
  { format: 2, indexes: { people: ["t", "x.y"] }, manifests: { people: ["x.y", "t"] } }
)
