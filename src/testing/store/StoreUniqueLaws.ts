import * as Effect from "effect/Effect"
import { law, promiseOf } from "./StoreLaw.js"

const mail = { indexes: { people: [{ fields: ["mail"], unique: true }] } }

/** A value of a unique index belongs to one document, whoever writes it. */
export const uniqueValues = law(
  "uniqueValues",
  promiseOf("indexes")(
    "a value of a unique index belongs to one document",
    "unique-indexes",
    "Of many writers of one value exactly one succeeds."
  ),
  ({ open, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      const other = (yield* open()).collection("people")
      yield* people.insert({ mail: "first" }, { id: "first" })
      const tried = yield* Effect.forEach(
        ["a", "b", "c", "d", "e", "f"],
        (id, n) => Effect.either((n % 2 === 0 ? people : other).insert({ mail: "one" }, { id })),
        { concurrency: "unbounded" }
      )
      const [winner, ...more] = tried.flatMap((one) => (one._tag === "Right" ? [one.right] : []))
      yield* expectEqual("the writers that succeeded", more, [])
      const found = yield* people.findBy("mail", "one")
      yield* expectEqual(
        "the document with the value",
        found.map(({ _id }) => _id),
        [winner]
      )
      const error = yield* expectFailure(
        "a second one",
        people.update("first", { mail: ["x", "one"] }),
        "ConflictError"
      )
      yield* expectEqual(
        "what the error says",
        [error.reason, error.violations],
        [
          "UniqueViolation",
          [{ collection: "people", index: "mail", value: "one", id: "first", other: winner }]
        ]
      )
      const put = (first: string, second: string) =>
        store.batch({}, (batch) =>
          Effect.zipRight(
            batch.put("people", "first", { mail: first }),
            batch.put("people", winner!, { mail: second })
          )
        )
      yield* put("one", "first")
      yield* expectFailure("two of one batch", put("same", "same"), "ConflictError")
      yield* people.insert({ mail: null }, { id: "g" })
      yield* people.insert({ mail: null }, { id: "h" })
      yield* people.delete("first")
      yield* people.update("g", { mail: "one" })
      yield* expectEqual("all documents", (yield* people.list()).length, 3)
    }),
  mail
)

/** A definition of an index is listed as it was given, and says which documents and values it compares. */
export const indexDefinitions = law(
  "indexDefinitions",
  promiseOf("indexes")(
    "an index has the documents of its `where`, and compares documents that have all of its fields",
    "unique-indexes",
    "an index of several fields compares only documents that have all of them."
  ),
  ({ open, people, expectFailure, expectEqual, store }) =>
    Effect.gen(function* () {
      yield* store.batch({}, (batch) =>
        Effect.all([
          batch.put("people", "both", { a: 1, b: 1, n: 1, tags: ["x", "y"] }),
          batch.put("people", "first", { a: 1, n: 2, tags: "x" }),
          batch.put("people", "first-too", { a: 1, n: 3, tags: ["y"] }),
          batch.put("people", "null", { a: 1, b: null, n: 4 }),
          batch.put("people", "null-too", { a: 1, b: null }),
          batch.put("people", "empty", { a: [], b: 1 }),
          batch.put("people", "empty-too", { a: [], b: 1 })
        ])
      )
      const listed = yield* store.indexes
      const shown = listed.map(
        ({ name, fields, rows, unique, where }): readonly [string, ...Array<unknown>] => [
          name,
          fields.map(({ field }) => field),
          rows,
          unique,
          where
        ]
      )
      yield* expectEqual(
        "the indexes",
        shown.sort(([a], [b]) => (a < b ? -1 : 1)),
        [
          ["pair", ["a", "b"], 7, true, undefined],
          ["tagged", ["n"], 2, false, { tags: "x" }]
        ]
      )
      yield* expectFailure("a second pair", people.insert({ a: [2, 1], b: 1 }), "ConflictError")
      yield* expectFailure("an update to it", people.update("first", { b: 1 }), "ConflictError")
      for (const alike of [{ a: 1 }, { a: 1, b: null }, { a: [], b: 1 }, { a: 1, b: "1" }]) {
        yield* people.insert(alike)
      }
      yield* store.batch({}, (batch) =>
        Effect.forEach(Array.from({ length: 22 }), (_, n) => batch.put("many", `d${n}`, { n: 1 }))
      )
      const unoptioned = yield* open({ indexes: undefined })
      const error = yield* expectFailure(
        "a unique index over documents that violate it",
        unoptioned.collection("many").createIndex({ fields: ["n"], unique: true }),
        "ConflictError"
      )
      yield* expectEqual("the violations", error.violations.length, 20)
    }),
  {
    format: 2,
    indexes: {
      people: [
        { fields: ["a", "b"], name: "pair", unique: true },
        { fields: ["n"], name: "tagged", where: { tags: "x" } }
      ]
    }
  }
)
