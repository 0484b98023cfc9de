import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { IndexOptions } from "../../domain/indexes/IndexDefinition.js"
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
  ({ head, open, people, push, expectFailure, expectEqual, store }) =>
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
      const refusedTogether = Effect.gen(function* () {
        const at = yield* head
        const records = [
          { _id: "row", mail: "row" },
          { _id: "taken", mail: "one" }
        ]
        const error = yield* expectFailure("an import", people.importRecords(records), "ConflictError")
        yield* expectEqual("its error names the row", error.message.includes("row 2"), true)
        const rows: Array<readonly [number, string]> = []
        yield* people.importRecords(records, {
          dryRun: true,
          onRow: ({ action, row }) => Effect.sync(() => void rows.push([row, action]))
        })
        yield* expectEqual("a dry run", rows, [
          [1, "insert"],
          [2, "refuse"]
        ])
        const change = { mail: ["own", "one"] }
        const writes: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
          upsert: people.upsert("h", change),
          replace: people.replace("h", change),
          edit: people.edit("h", () => change),
          preview: store.preview((dry) => dry.collection("people").update("h", change)),
          batch: store.batch({}, (batch) =>
            Effect.zipRight(batch.put("people", "apart", {}), batch.put("people", "h", change))
          )
        }
        for (const [what, write] of Object.entries(writes))
          yield* expectFailure(`a refused ${what}`, write, "ConflictError")
        yield* expectEqual("nothing was written", yield* head, at)
      })
      yield* people.insert({ mail: null }, { id: "g" })
      yield* people.insert({ mail: null }, { id: "h" })
      yield* people.delete("first")
      yield* people.update("g", { mail: "one" })
      yield* expectEqual("all documents", (yield* people.list()).length, 3)
      yield* refusedTogether
      // Another program gives the value to a second document.
      yield* push({ "people/twin.json": '{"_id": "twin", "_rev": 1, "mail": ["one", "own"]}' })
      const both = ["g", "twin"]
      const ids = Effect.map(people.findBy("mail", "one"), (all) => all.map(({ _id }) => _id))
      yield* expectEqual("both are found", yield* ids, both)
      const findings = yield* store.doctorWith({ deep: true })
      const violations = findings.filter(
        ({ code, collection }) => collection === "people" && code === "unique-violation"
      )
      yield* expectEqual(
        "both are listed by the doctor",
        violations.map(({ ids }) => [...(ids ?? [])].sort()),
        [both]
      )
      yield* people.update("g", { n: 1 })
      yield* other.update("twin", { mail: "one" })
      yield* store.batch({}, (batch) =>
        Effect.forEach(both, (id) => batch.put("people", id, { mail: "one", n: 2 }))
      )
      yield* expectFailure("a third document", people.insert({ mail: "one" }), "ConflictError")
      yield* expectFailure("another document", people.update("h", { mail: "one" }), "ConflictError")
      yield* people.update("twin", { mail: "two" })
      yield* expectFailure(
        "the value that was given up",
        people.update("twin", { mail: "one" }),
        "ConflictError"
      )
      yield* people.update("h", { mail: "own" })
    }),
  { ...mail, shardDepth: 0 }
)

/** A definition of an index is listed as it was given, and says which documents and values it compares. */
export const indexDefinitions = law(
  "indexDefinitions",
  promiseOf("indexes")(
    "an index has the documents of its `where`, and compares documents that have all of its fields",
    "unique-indexes",
    "an index of several fields compares only documents that have all of them."
  ),
  ({ head, open, people, expectFailure, expectEqual, store }) =>
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
      const plain = unoptioned.collection("things")
      yield* plain.insert({ city: "Rome" }, { id: "a" })
      yield* plain.createIndex("city")
      const at = yield* head
      const same = [
        "city",
        { fields: ["city"] },
        { fields: [{ field: "city" }], unique: false },
        { fields: [{ field: "city", order: "asc" }], name: "city" }
      ] as const
      for (const definition of same)
        yield* expectEqual(
          `${JSON.stringify(definition)} is recorded already`,
          Option.isNone(yield* plain.createIndex(definition)),
          true
        )
      const others: ReadonlyArray<IndexOptions> = [
        { fields: ["city"], unique: true },
        { fields: [{ field: "city", order: "desc" }] },
        { fields: ["city"], where: { state: "new" } },
        { fields: ["city", "state"], name: "city" },
        { fields: ["town"], name: "city" }
      ]
      const wrong: ReadonlyArray<IndexOptions> = [
        { fields: Array.from({ length: 17 }, (_, n) => `f${n}`), name: "fields" },
        { fields: ["a"], where: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`f${n}`, n])) },
        { fields: ["a", "a"] },
        { fields: ["a"], name: "../a" },
        { fields: ["a".repeat(513)], name: "long" },
        { fields: [Array.from({ length: 33 }, () => "a").join(".")], name: "deep" }
      ]
      for (const definition of [...others, ...wrong])
        yield* expectFailure(
          `the index ${JSON.stringify(definition)}`,
          plain.createIndex(definition),
          "ValidationError"
        )
      yield* expectEqual("nothing was written", yield* head, at)
      const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)
      const many = yield* expectFailure(
        "more than 10,000 combinations",
        unoptioned.collection("people").insert({ a: numbers(101), b: numbers(100) }, { id: "combined" }),
        "ValidationError"
      )
      yield* expectEqual("the document that its error names", many.id, "combined")
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
