import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import type { ConflictError } from "../../../src/domain/errors/StoreError.js"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import { Collection } from "../../../src/store/index.js"
import type { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import { remotes } from "../core/Remotes.js"
import { brief, document, expectFailure } from "../operations/StorePair.js"

const notesOf = (store: StoreService) => store.collection("notes")

interface Sides {
  readonly store: StoreService
  readonly main: ReturnType<typeof notesOf>
  readonly draft: ReturnType<typeof notesOf>
  readonly merge: StoreService["merge"]
}

/** The documents that both branches begin with, by id. */
type Base = Readonly<Record<string, JsonObject>>

const parted = (base: Base, options: StoreOptions = {}): Effect.Effect<Sides, unknown, GitRemote> =>
  Effect.gen(function* () {
    const store = yield* Store.make(options)
    yield* store.batch({}, (batch) =>
      Effect.forEach(Object.entries({ first: { is: "there" }, ...base }), ([id, fields]) =>
        batch.insert("notes", fields, { id })
      )
    )
    yield* store.createBranch("draft")
    return {
      store,
      main: notesOf(store),
      draft: notesOf(store.onBranch("draft")),
      merge: store.merge
    }
  })

/** The fields of a document, without its metadata. */
const fieldsOf = ({ store }: Sides, id: string) =>
  Effect.map(document(store, "notes", id), (found) => brief(found)?.[1])

const refusedMerge = ({ merge }: Sides) =>
  Effect.map(expectFailure<ConflictError>(merge("draft"), "ConflictError"), (error) =>
    (error.unmerged ?? []).map(({ conflicts, id, kind }) => ({ id, kind, conflicts }))
  )

interface Case {
  /** What the page says of Dolt, and of documents here. */
  readonly dolt: string
  readonly here: string
  readonly run: Effect.Effect<unknown, unknown, GitRemote>
}

const merged = (base: JsonObject, ours: JsonObject, theirs: JsonObject, options: StoreOptions = {}) =>
  Effect.gen(function* () {
    const sides = yield* parted({ x: base }, options)
    yield* sides.main.replace("x", ours)
    yield* sides.draft.replace("x", theirs)
    yield* sides.merge("draft")
    return yield* fieldsOf(sides, "x")
  })

const Price = Schema.Struct({ from: Schema.Number, to: Schema.Number }).pipe(
  Schema.filter(({ from, to }) => from <= to || "from is above to")
)

const cases: Readonly<Record<string, Case>> = {
  "different rows": {
    dolt: "merged",
    here: "same: different documents",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 }, y: { n: 1 } })
      yield* sides.main.update("x", { n: 2 })
      yield* sides.draft.update("y", { n: 3 })
      yield* sides.merge("draft")
      assert.deepStrictEqual([yield* fieldsOf(sides, "x"), yield* fieldsOf(sides, "y")], [{ n: 2 }, { n: 3 }])
    })
  },
  "one row, different columns": {
    dolt: "merged by cell",
    here: "same: by field, at every depth",
    run: Effect.gen(function* () {
      const base = { a: 1, b: 1, size: { w: 1, h: { cm: 1, mm: 10 } } }
      assert.deepStrictEqual(
        yield* merged(
          base,
          { ...base, a: 2, size: { ...base.size, h: { cm: 2, mm: 10 } } },
          { ...base, b: 3, size: { w: 3, h: { cm: 1, mm: 30 } } }
        ),
        { a: 2, b: 3, size: { w: 3, h: { cm: 2, mm: 30 } } }
      )
    })
  },
  "one cell, two values": {
    dolt: "a conflict row with base, ours, theirs",
    here: "same: a conflict with its path",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1, m: 1 } })
      yield* sides.main.update("x", { n: 2 })
      yield* sides.draft.update("x", { n: 3, m: 2 })
      assert.deepStrictEqual(yield* refusedMerge(sides), [
        { id: "x", kind: "changed", conflicts: [{ path: ["n"], base: 1, ours: 2, theirs: 3 }] }
      ])
    })
  },
  "one cell, one value by both": {
    dolt: "merged",
    here: "same; in `edit`, the function is applied again",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 }, y: { n: 1 } })
      for (const side of [sides.main, sides.draft]) yield* side.update("x", { n: 2 })
      yield* sides.merge("draft")
      assert.deepStrictEqual(yield* fieldsOf(sides, "x"), { n: 2 })
      let runs = 0
      yield* sides.main.edit("y", (found) =>
        Effect.gen(function* () {
          if (runs++ === 0) yield* Effect.orDie(sides.main.update("y", { n: 2 }))
          return { ...found, n: (found["n"] as number) + 1 }
        })
      )
      assert.deepStrictEqual([runs, yield* fieldsOf(sides, "y")], [2, { n: 3 }])
    })
  },
  "row deleted against row changed": {
    dolt: "conflict",
    here: "same: `deleted`; of a write with a `base` the `ConflictError`'s merge has no `theirs`",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 }, y: { n: 1 } })
      const base = Option.getOrThrow(yield* sides.main.version("x"))
      yield* sides.main.delete("x")
      yield* sides.main.update("y", { n: 2 })
      yield* sides.draft.update("x", { n: 2 })
      yield* sides.draft.delete("y")
      assert.deepStrictEqual(
        (yield* refusedMerge(sides)).map(({ id, kind }) => [id, kind]),
        [
          ["x", "deleted"],
          ["y", "deleted"]
        ]
      )
      const late = yield* expectFailure<ConflictError>(
        sides.main.update("x", { n: 3 }, { base }),
        "ConflictError"
      )
      assert.deepInclude(late.merge, { base: { n: 1 }, ours: { n: 3 } })
      assert.isUndefined(late.merge?.theirs)
    })
  },
  "row added by both, equal": {
    dolt: "merged",
    here: "same",
    run: Effect.gen(function* () {
      const sides = yield* parted({})
      for (const side of [sides.main, sides.draft]) yield* side.insert({ n: 1, tags: ["a"] }, { id: "x" })
      yield* sides.merge("draft")
      assert.deepStrictEqual(yield* fieldsOf(sides, "x"), { n: 1, tags: ["a"] })
    })
  },
  "row added by both, different": {
    dolt: "conflict",
    here: "better: fields that do not contradict each other are merged",
    run: Effect.gen(function* () {
      const sides = yield* parted({})
      yield* sides.main.insert({ name: "pen", a: 1 }, { id: "x" })
      yield* sides.draft.insert({ name: "pen", b: 2 }, { id: "x" })
      yield* sides.main.insert({ n: 1 }, { id: "y" })
      yield* sides.draft.insert({ n: 2 }, { id: "y" })
      assert.deepStrictEqual(
        (yield* refusedMerge(sides)).map(({ conflicts, id }) => [id, conflicts.map(({ path }) => path)]),
        [["y", [["n"]]]]
      )
      yield* sides.merge("draft", { onConflict: "theirs" })
      assert.deepStrictEqual(yield* fieldsOf(sides, "x"), { name: "pen", a: 1, b: 2 })
    })
  },
  "JSON column": {
    dolt: "different keys are merged, the same key is a conflict",
    here: "better: sets, sequences, keyed lists, texts, counters by rule",
    run: Effect.gen(function* () {
      const base = { set: ["a"], sequence: [1, 2, 3], keyed: [{ id: 1, n: 1 }], text: "a\nb\nc", sold: 5 }
      const merge = {
        notes: { set: "set", sequence: "sequence", keyed: { key: "id" }, text: "lines", sold: "counter" }
      } as const
      assert.deepStrictEqual(
        yield* merged(
          base,
          { set: ["a", "b"], sequence: [0, 1, 2, 3], keyed: [{ id: 1, n: 2 }], text: "A\nb\nc", sold: 6 },
          { set: ["c"], sequence: [1, 3], keyed: [{ id: 1, n: 1, m: 1 }], text: "a\nb\nC", sold: 3 },
          { merge }
        ),
        { set: ["b", "c"], sequence: [0, 1, 3], keyed: [{ id: 1, n: 2, m: 1 }], text: "A\nb\nC", sold: 4 }
      )
    })
  },
  "keyless table": {
    dolt: "a conflict only where one side deletes a row that the other adds",
    here: "not: every document has an id",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 } })
      yield* sides.main.delete("x")
      const ids = [yield* sides.main.insert({ n: 1 }), yield* sides.draft.insert({ n: 1 })].map(String)
      yield* sides.merge("draft")
      assert.sameMembers([...(yield* sides.main.list())], ["first", ...ids])
    })
  },
  "unique key broken by the merge": {
    dolt: "constraint violations, recorded in a table; the transaction cannot be committed until they are gone",
    here: 'refused: `ConflictError` with `reason: "UniqueViolation"`; nothing is written',
    run: Effect.gen(function* () {
      const sides = yield* parted({}, { format: 2, indexes: { notes: [{ fields: ["n"], unique: true }] } })
      yield* sides.main.insert({ n: 1 }, { id: "x" })
      yield* sides.draft.insert({ n: 1 }, { id: "y" })
      const before = yield* sides.store.branches
      const error = yield* expectFailure<ConflictError>(sides.merge("draft"), "ConflictError")
      assert.strictEqual(error.reason, "UniqueViolation")
      assert.deepStrictEqual(yield* sides.store.branches, before)
    })
  },
  "check constraint broken": {
    dolt: "constraint violation",
    here: "refused: a conflict, `invalid`, of branches, and a `ValidationError` of a write with a `base`",
    run: Effect.gen(function* () {
      const definition = Collection.define("notes", Price)
      const sides = yield* parted({ x: { from: 1, to: 9 } }, { collections: [definition] })
      const base = Option.getOrThrow(yield* sides.main.version("x"))
      yield* sides.main.update("x", { to: 5 })
      yield* sides.draft.update("x", { from: 7 })
      assert.deepStrictEqual(
        (yield* refusedMerge(sides)).map(({ id, kind }) => [id, kind]),
        [["x", "invalid"]]
      )
      yield* expectFailure(
        sides.store.collection(definition).update("x", { from: 7 }, { base }),
        "ValidationError"
      )
      assert.deepStrictEqual(yield* fieldsOf(sides, "x"), { from: 1, to: 5 })
    })
  },
  "foreign keys": {
    dolt: "violations are recorded",
    here: "not: there are no foreign keys",
    run: Effect.gen(function* () {
      const sides = yield* parted({ customer: { name: "Ada" } })
      yield* sides.main.delete("customer")
      yield* sides.draft.insert({ customer: "customer" }, { id: "order" })
      yield* sides.merge("draft")
      assert.deepStrictEqual(yield* sides.main.list(), ["first", "order"])
    })
  },
  "schema changes of both sides": {
    dolt: "merged where they are of different columns or the same; two different ones of one column, or a change of a table that the other side deletes, stop the merge as a schema conflict",
    here: "not: schemas are in programs; documents keep fields that a program does not know. A collection that one side deletes is a conflict for each document that the other changed",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 }, y: { n: 1 }, z: { n: 1 } })
      const older = Collection.define("notes", Schema.Struct({ n: Schema.Number, a: Schema.Number }))
      const newer = Collection.define("notes", Schema.Struct({ n: Schema.Number, b: Schema.String }))
      yield* sides.store.collection(older).update("x", { a: 1 })
      yield* sides.store.onBranch("draft").collection(newer).update("x", { b: "b" })
      yield* sides.merge("draft")
      assert.deepStrictEqual(yield* fieldsOf(sides, "x"), { n: 1, a: 1, b: "b" })
      yield* sides.merge("main", { into: "draft" })
      for (const id of yield* sides.draft.list()) yield* sides.draft.delete(id)
      yield* sides.main.update("y", { n: 2 })
      yield* sides.main.update("z", { n: 2 })
      assert.deepStrictEqual(
        (yield* refusedMerge(sides)).map(({ id, kind }) => [id, kind]),
        [
          ["y", "deleted"],
          ["z", "deleted"]
        ]
      )
    })
  },
  "a merge with conflicts": {
    dolt: "is left open in a transaction until they are resolved",
    here: "is not written; `onConflict` decides, or the error has all of them",
    run: Effect.gen(function* () {
      const sides = yield* parted({ x: { n: 1 }, y: { n: 1 } })
      for (const [side, n] of [
        [sides.main, 2],
        [sides.draft, 3]
      ] as const) {
        yield* side.update("x", { n })
        yield* side.update("y", { n })
      }
      const before = yield* sides.store.branches
      assert.deepStrictEqual(
        (yield* refusedMerge(sides)).map(({ id }) => id),
        ["x", "y"]
      )
      assert.deepStrictEqual(yield* sides.store.branches, before)
      yield* sides.merge("draft", { onConflict: ({ id }) => (id === "x" ? "ours" : { n: 9 }) })
      assert.deepStrictEqual([yield* fieldsOf(sides, "x"), yield* fieldsOf(sides, "y")], [{ n: 2 }, { n: 9 }])
    })
  }
}

/** The rows of the page's table. */
const documented = () => {
  const page = readFileSync(fileURLToPath(new URL("../../../docs/merging.md", import.meta.url)), "utf8")
  const [, section = ""] = page.split("\n## Comparison with Dolt\n")
  const [, ...rows] = section.split("\n").filter((line) => line.startsWith("| "))
  return rows.filter((row) => !row.startsWith("| ---")).map((row) => row.slice(2, -2).split(" | "))
}

it("the page says of Dolt's cases what is tested here", () => {
  assert.deepStrictEqual(
    documented(),
    Object.entries(cases).map(([name, { dolt, here }]) => [name, dolt, here])
  )
  for (const { here } of Object.values(cases))
    assert.match(here, /^(same|better|refused|not|is not written)\b/)
})

describe.each(remotes)("the case of Dolt's on %s", (_, layer) => {
  it.live.each(Object.entries(cases))("%s", ([, { run }]) => Effect.provide(Effect.scoped(run), layer))
})
