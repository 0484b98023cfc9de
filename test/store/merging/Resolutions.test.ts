import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Unmerged, ValidationError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import type { Json } from "../../../src/domain/json/Json.js"
import type { MergeOptions } from "../../../src/store/Branches.js"
import * as Collection from "../../../src/store/CollectionDefinition.js"
import { readable } from "../../../src/store/internal/merge/MergeContent.js"
import { resolveItem } from "../../../src/store/internal/merge/MergeDecisions.js"
import { type BothChanged, mergeContext, oidOf } from "../../../src/store/internal/merge/MergeItems.js"
import { makeResolutions } from "../../../src/store/internal/merge/MergeResolutions.js"

const conflict = (path: string): Unmerged => ({
  kind: "file",
  path,
  base: undefined,
  ours: "a",
  theirs: "b",
  conflicts: [],
  problem: `${path} was changed on both branches`
})

describe("the resolutions of conflicts", () => {
  it.effect("are one side for all, or none, without a question", () =>
    Effect.gen(function* () {
      for (const given of ["ours", "theirs", "fail", undefined] as const) {
        const { askOpen, get, isOpen } = makeResolutions(given)
        assert.strictEqual(get(conflict("x")), given === "fail" ? undefined : given)
        assert.isFalse(isOpen())
        assert.isFalse(yield* askOpen)
      }
    })
  )

  it.effect("are asked for once, and kept", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const { askOpen, get, isOpen } = makeResolutions(({ path }) => {
        asked.push(path)
        return path === "x" ? "ours" : Effect.succeed(undefined)
      })
      assert.isFalse(yield* askOpen)
      for (const path of ["x", "y", "x"]) assert.isUndefined(get(conflict(path)))
      assert.isTrue(isOpen())
      assert.deepStrictEqual(asked, [])
      assert.isTrue(yield* askOpen)
      assert.isFalse(isOpen())
      assert.strictEqual(get(conflict("x")), "ours")
      assert.isUndefined(get(conflict("y")))
      // One that stays a conflict is not asked for again; one that has changed is.
      assert.isFalse(isOpen())
      get({ ...conflict("x"), theirs: "c" } as Unmerged)
      assert.isTrue(yield* askOpen)
      assert.deepStrictEqual(asked, ["x", "y", "x"])
    })
  )

  it.effect("fail if the question throws", () =>
    Effect.gen(function* () {
      const { askOpen, get } = makeResolutions(() => {
        throw new Error("no")
      })
      get({ ...conflict("x"), kind: "unreadable", collection: "people", id: "x", blobs: {} } as Unmerged)
      const error = yield* Effect.flip(askOpen)
      assert.deepStrictEqual(
        [error.operation, error.path, error.collection, error.id, error.message],
        ["Store.merge", "x", "people", "x", "onConflict failed for x: Error: no"]
      )
      assert.match(error.hint!, /return "ours", "theirs"/)
    })
  )
})

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

type Sides = readonly [base: object | undefined, ours: object | undefined, theirs: object | undefined]

const people = Collection.define(
  "people",
  Schema.Struct({ name: Schema.String, age: Schema.optional(Schema.Int) })
)

/** The decision about a document, or another file, with all questions answered. */
const decided = (
  sides: Sides,
  onConflict: MergeOptions["onConflict"],
  {
    definitions = [],
    isDocument = true
  }: {
    readonly definitions?: ReadonlyArray<Collection.CollectionDefinition>
    readonly isDocument?: boolean
  } = {}
) => {
  const blobs = new Map<Oid, Uint8Array>()
  const [base, ours, theirs] = sides.map((value) => {
    if (value === undefined) return undefined
    const content = bytes(value)
    const oid = oidOf(content)
    blobs.set(oid, content)
    return { oid, mode: "100644" as const }
  })
  const document = isDocument ? { collection: "people", id: "ada" } : undefined
  const item: BothChanged = { path: "data/people/ada.json", document, base, ours, theirs }
  const resolutions = makeResolutions(onConflict)
  const attempt = resolveItem(item, blobs, mergeContext(definitions), resolutions)
  return Effect.gen(function* () {
    const { conflict, decision } = yield* Effect.zipRight(
      Effect.iterate(true, {
        while: (isOpen) => isOpen,
        body: () => Effect.zipRight(attempt, resolutions.askOpen)
      }),
      attempt
    )
    const made =
      decision._tag === "Content"
        ? readable(decision.content)
        : decision._tag === "File"
          ? decision.file === undefined
            ? "removed"
            : decision.file === ours
              ? "ours"
              : decision.file === theirs
                ? "theirs"
                : "?"
          : decision._tag === "Conflict"
            ? "conflict"
            : "?"
    return { conflict, made }
  })
}

const changed: Sides = [{ name: "Ada" }, { name: "A" }, { name: "B" }]
const deleted: Sides = [{ name: "Ada" }, undefined, { name: "B" }]

describe("an item that both sides changed", () => {
  it.effect("is merged without a question where nothing contradicts", () =>
    Effect.gen(function* () {
      const never = () => {
        throw new Error("asked")
      }
      const { conflict, made } = yield* decided(
        [
          { n: 1, m: 1 },
          { n: 2, m: 1 },
          { n: 1, m: 2 }
        ],
        never
      )
      assert.deepStrictEqual([conflict, made], [undefined, { n: 2, m: 2 }])
    })
  )

  it.effect("stays a conflict without a resolution", () =>
    Effect.gen(function* () {
      for (const sides of [changed, deleted]) {
        const { conflict, made } = yield* decided(sides, undefined)
        assert.strictEqual(made, "conflict")
        assert.strictEqual(conflict?.kind, sides === changed ? "changed" : "deleted")
      }
    })
  )

  it.effect("is what the resolution says, and the conflict is told with it", () =>
    Effect.gen(function* () {
      const result = (sides: Sides, onConflict: MergeOptions["onConflict"]) =>
        Effect.map(decided(sides, onConflict), ({ conflict, made }) => [conflict?.kind, made])
      assert.deepStrictEqual(yield* result(changed, "ours"), ["changed", { name: "A" }])
      assert.deepStrictEqual(yield* result(changed, "theirs"), ["changed", { name: "B" }])
      assert.deepStrictEqual(yield* result(changed, () => () => ({ value: "C" })), ["changed", { name: "C" }])
      assert.deepStrictEqual(yield* result(changed, () => null), ["changed", "removed"])
      assert.deepStrictEqual(yield* result(changed, () => ({ name: "D" })), [
        "changed",
        { _id: "ada", name: "D" }
      ])
      assert.deepStrictEqual(yield* result(deleted, "ours"), ["deleted", "removed"])
      assert.deepStrictEqual(yield* result(deleted, "theirs"), ["deleted", "theirs"])
      assert.deepStrictEqual(yield* result(deleted, () => ({ name: "D" })), [
        "deleted",
        { _id: "ada", _rev: 1, name: "D" }
      ])
      // A function that settles no place leaves the conflict.
      assert.deepStrictEqual(yield* result(changed, () => () => undefined), ["changed", "conflict"])
    })
  )

  it.effect("is not what no document can be", () =>
    Effect.gen(function* () {
      const message = (sides: Sides, given: unknown, isDocument = true) =>
        Effect.map(Effect.flip(decided(sides, () => given as never, { isDocument })), (error) => {
          assert.instanceOf(error, ValidationError)
          assert.strictEqual(error.path, "data/people/ada.json")
          return error.message
        })
      const at = "data/people/ada.json"
      assert.match(
        yield* message(changed, 1),
        /^onConflict returned .*number for data\/people\/ada\.json, which/
      )
      assert.match(yield* message(deleted, () => "ours"), /^onConflict returned .*function for data/)
      assert.match(yield* message(changed, [1]), /^onConflict returned a list for data/)
      assert.match(yield* message(changed, { n: Number.NaN }), new RegExp(`^${at}: n: `))
      assert.strictEqual(
        yield* message(changed, { n: 1 }, false),
        `${at} is not a document and cannot become one`
      )
    })
  )

  it.effect("is not written if it is too large to be read", () =>
    Effect.gen(function* () {
      // Each number has its own line in the file of a document, here with 1,700 spaces.
      let list: Json = Array<number>(62_000).fill(0)
      for (let depth = 1; depth < 850; depth++) list = [list]
      for (const attempt of [
        decided([{}, { list }, { title: "theirs" }], undefined),
        decided(deleted, () => ({ list }))
      ]) {
        const error = yield* Effect.flip(attempt)
        assert.instanceOf(error, ValidationError)
        assert.strictEqual(error.message, "people/ada: the document: exceeds 100 MiB or 5 million values")
        assert.deepStrictEqual(
          [error.collection, error.id, error.path],
          ["people", "ada", "data/people/ada.json"]
        )
        assert.match(error.hint!, /smaller/)
      }
    })
  )

  it.effect("that is no document is one of its sides", () =>
    Effect.gen(function* () {
      for (const side of ["ours", "theirs"] as const) {
        const { conflict, made } = yield* decided(changed, side, { isDocument: false })
        assert.deepStrictEqual([conflict?.kind, made], ["file", side])
      }
    })
  )
})

describe("a merged document that breaks the schema of its collection", () => {
  const definitions = [people]
  // Each side is valid, and both together are not: the name is gone on one side, and the record is another on the other.
  const broken: Sides = [{ name: "Ada", age: 1 }, { name: "Ada", age: 1, x: 1 }, { age: 1 }]

  it.effect("is a conflict of its own, with the merged document", () =>
    Effect.gen(function* () {
      const { conflict, made } = yield* decided(broken, undefined, { definitions })
      assert.strictEqual(made, "conflict")
      assert.isTrue(conflict?.kind === "invalid")
      if (conflict?.kind !== "invalid") return
      assert.deepStrictEqual(
        [conflict.collection, conflict.id, conflict.path, conflict.conflicts],
        ["people", "ada", "data/people/ada.json", []]
      )
      assert.deepStrictEqual([conflict.base, conflict.ours, conflict.theirs], [...broken] as never)
      assert.deepStrictEqual(conflict.document, { age: 1, x: 1 })
      assert.deepStrictEqual(conflict.blobs, {
        ours: oidOf(bytes(broken[1])),
        theirs: oidOf(bytes(broken[2]))
      })
      assert.match(conflict.problem, /^people\/ada, merged, breaks the schema of its collection: /)
    })
  )

  it.effect("is resolved like another conflict, once", () =>
    Effect.gen(function* () {
      const result = (sides: Sides, onConflict: MergeOptions["onConflict"]) =>
        Effect.map(decided(sides, onConflict, { definitions }), ({ conflict, made }) => [
          conflict?.kind,
          made
        ])
      // A side, too, is a new version: both sides changed the document.
      assert.deepStrictEqual(yield* result(broken, "ours"), [
        "invalid",
        { _id: "ada", name: "Ada", age: 1, x: 1 }
      ])
      assert.deepStrictEqual(yield* result(broken, "theirs"), ["invalid", { _id: "ada", age: 1 }])
      assert.deepStrictEqual(yield* result(broken, () => ({ name: "D" })), [
        "invalid",
        { _id: "ada", name: "D" }
      ])
      // A document that the resolution gives is not asked about again.
      assert.deepStrictEqual(yield* result(broken, () => ({ age: 2 })), ["invalid", "conflict"])
      assert.deepStrictEqual(yield* result(changed, () => ({ age: 2 })), ["invalid", "conflict"])
      // So is one that replaces a document that either side deleted.
      for (const sides of [deleted, [deleted[0], deleted[2], undefined] as const]) {
        const { conflict, made } = yield* decided(sides, () => ({ age: 2 }), { definitions })
        assert.deepStrictEqual([conflict?.kind, made], ["invalid", "conflict"])
        assert.deepStrictEqual(conflict?.kind === "invalid" && conflict.blobs, {
          ours: sides[1] && oidOf(bytes(sides[1])),
          theirs: sides[2] && oidOf(bytes(sides[2]))
        })
      }
      // The sides contradict each other at the age, and what is left breaks the schema: asked about twice.
      const twice: Sides = [{ name: "Ada", age: 1 }, { age: 2 }, { name: "Ada", age: 3 }]
      assert.deepStrictEqual(
        yield* result(twice, ({ kind }) => (kind === "changed" ? () => "theirs" : { name: "E" })),
        ["invalid", { _id: "ada", name: "E" }]
      )
    })
  )

  it.effect("is none in a collection without a definition", () =>
    Effect.gen(function* () {
      const { conflict, made } = yield* decided(broken, undefined)
      assert.deepStrictEqual([conflict, made], [undefined, { age: 1, x: 1 }])
    })
  )
})
