import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Option, Schema } from "effect"
import { ValidationError } from "../../../src/domain/errors/StoreError.js"
import { plainSettings } from "../../../src/domain/settings/Settings.js"
import * as Collection from "../../../src/store/CollectionDefinition.js"
import { fold, type Queued, queued } from "../../../src/store/internal/write/OperationQueue.js"
import { PendingOperations } from "../../../src/store/internal/write/PendingOperations.js"

const put = (given: Collection.CollectionLike, id: string, document: unknown, anyId?: boolean) =>
  Effect.either(queued("Batch.put", "put", given, id, document, anyId))

describe("an operation of a queue", () => {
  const refused = (
    given: Collection.CollectionLike,
    id: string,
    document: unknown,
    message: RegExp,
    path?: string
  ) =>
    Effect.gen(function* () {
      const error = Option.getOrThrow(Either.getLeft(yield* put(given, id, document)))
      const { collection, issues, operation } = error
      assert.deepStrictEqual([operation, collection, error.id], ["Batch.put", "notes", id])
      assert.match(error.message, new RegExp(`^notes/${id}: `))
      assert.match(error.message, message)
      assert.deepStrictEqual(
        issues?.map(({ path }) => path),
        path === undefined ? undefined : [path]
      )
    })

  it.effect("has a copy of its document, without metadata", () =>
    Effect.gen(function* () {
      const document = { _id: "a", _rev: 7, tags: ["x"] }
      const taken = yield* put("notes", "a", document)
      document.tags.push("y")
      assert.deepStrictEqual(Either.getOrThrow(taken), {
        kind: "put",
        collection: "notes",
        id: "a",
        document: { tags: ["x"] }
      })
    })
  )

  it.effect("has no document if it deletes one, whatever was given", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* queued("Batch.delete", "delete", "notes", "a", 1), {
        kind: "delete",
        collection: "notes",
        id: "a",
        document: undefined
      })
    })
  )

  it.effect("is refused with the reason", () =>
    Effect.gen(function* () {
      yield* refused("notes", "a", undefined, /a document is a JSON object$/)
      yield* refused("notes", "a", [1], /a document is a JSON object$/)
      yield* refused("notes", "a", { b: { c: 1n } }, /bigint/i, "b.c")
      yield* refused("notes", "a", { _id: "b" }, /says that its _id is "b"$/, "_id")
      yield* refused("notes", "a", { _id: 1 }, /says that its _id is 1$/, "_id")
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      yield* refused("notes", "a", cyclic, /^notes\/a: (?!the document cannot be read)/, "self")
      const throws = Object.defineProperty({}, "x", {
        enumerable: true,
        get: () => {
          throw new Error("no x")
        }
      })
      yield* refused("notes", "a", throws, /cannot be read: Error: no x$/)
    })
  )

  it.effect("is refused if a name is none, also of a deletion", () =>
    Effect.gen(function* () {
      for (const [collection, id] of [
        ["no/tes", "a"],
        ["notes", "a/b"]
      ] as const) {
        const error = yield* Effect.flip(queued("Batch.delete", "delete", collection, id, undefined))
        assert.instanceOf(error, ValidationError)
        assert.strictEqual(error.operation, "Batch.delete")
        assert.deepStrictEqual([error.collection, error.id], [collection, id])
      }
    })
  )

  it.effect("may have any _id in its document where the caller says so", () =>
    Effect.gen(function* () {
      const taken = Either.getOrThrow(yield* put("notes", "a", { _id: "b", n: 1 }, true))
      assert.deepStrictEqual([taken.id, taken.document], ["a", { n: 1 }])
    })
  )

  it.effect("is encoded by the schema of its collection", () =>
    Effect.gen(function* () {
      const notes = Collection.define("notes", Schema.Struct({ n: Schema.NumberFromString }))
      assert.deepStrictEqual(Either.getOrThrow(yield* put(notes, "a", { n: 1 })).document, { n: "1" })
      const error = Option.getOrThrow(Either.getLeft(yield* put(notes, "a", { n: "one" })))
      assert.deepStrictEqual([error.collection, error.id, error.path], ["notes", "a", "notes/a"])
    })
  )
})

describe("a queue of operations", () => {
  const item = (kind: Queued["kind"], id: string, n?: number, collection = "notes"): Queued => ({
    kind,
    collection,
    id,
    document: n === undefined ? undefined : { n }
  })

  it.effect("makes one operation of each document, the last one", () =>
    Effect.gen(function* () {
      const operations = fold([
        item("put", "a", 1),
        item("put", "b", 1),
        item("put", "a", 2),
        item("put", "a", 3, "others"),
        item("delete", "b")
      ])
      const made = yield* Effect.forEach(operations, ({ collection, id, next }) =>
        Effect.map(next(Option.none(), plainSettings), ({ document }) => [
          collection,
          id,
          Option.getOrNull(document)
        ])
      )
      assert.deepStrictEqual(made, [
        ["notes", "a", { n: 2 }],
        ["notes", "b", null],
        ["others", "a", { n: 3 }]
      ])
    })
  )

  it("says what each document must be before", () => {
    const needs = (...kinds: ReadonlyArray<Queued["kind"]>) =>
      fold(kinds.map((kind) => item(kind, "a", kind === "delete" ? undefined : 1))).map(({ needs }) => needs)
    assert.deepStrictEqual(needs("put"), ["any"])
    assert.deepStrictEqual(needs("delete"), ["present"])
    assert.deepStrictEqual(needs("insert"), ["absent"])
    // What the queue itself has written may be deleted, also twice.
    assert.deepStrictEqual(needs("put", "delete"), ["any"])
    assert.deepStrictEqual(needs("put", "delete", "delete"), ["any"])
    assert.deepStrictEqual(needs("delete", "delete"), ["present"])
    // An insert behind a deletion finds the document gone; one before it must have found it absent.
    assert.deepStrictEqual(needs("delete", "insert"), ["any"])
    assert.deepStrictEqual(needs("insert", "put"), ["absent"])
    assert.deepStrictEqual(needs("insert", "delete"), ["absent"])
    assert.deepStrictEqual(needs("put", "insert"), ["any"])
  })
})

describe("operations that are being checked", () => {
  const added = (
    places: PendingOperations,
    kind: Queued["kind"],
    id: string,
    document: unknown = { n: 1 },
    refusal: () => ValidationError | undefined = () => undefined
  ) =>
    places.add({
      operation: `Batch.${kind}`,
      kind,
      given: "notes",
      id,
      document,
      anyId: undefined,
      since: 5,
      refusal
    })

  const idsOf = (places: PendingOperations) => places.all.map(({ id, kind }) => `${kind} ${id}`)

  it.effect("stand in the order of their calls, and are ready up to the first that is not checked", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      const fibers = yield* Effect.all([
        Effect.fork(added(places, "put", "a", { rows: Array.from({ length: 50_000 }, (_, n) => ({ n })) })),
        Effect.fork(added(places, "put", "b"))
      ])
      while (places.all.length < 2 || places.all[1]!.isChecking) yield* Effect.yieldNow()
      assert.deepStrictEqual(idsOf(places), ["put a", "put b"])
      assert.isTrue(places.all[0]!.isChecking)
      assert.deepStrictEqual(places.ready(), [])
      yield* places.awaitChecks(1)
      assert.deepStrictEqual(
        places.ready().map(({ id, since }) => [id, since]),
        [
          ["a", 5],
          ["b", 5]
        ]
      )
      assert.strictEqual(places.ready(1).length, 1)
      assert.deepStrictEqual(places.all[1]!.document, { n: 1 })
      assert.strictEqual(places.documents, 2)
      yield* Fiber.joinAll(fibers)
      yield* places.awaitChecks()
    })
  )

  it.effect("are waited for, as many as are asked for", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      yield* added(places, "put", "a")
      const large = { rows: Array.from({ length: 50_000 }, (_, n) => ({ n })) }
      const second = yield* Effect.fork(added(places, "put", "b", large))
      while (places.all.length < 2) yield* Effect.yieldNow()
      yield* places.awaitChecks(1)
      assert.isTrue(places.all[1]!.isChecking)
      yield* places.awaitChecks()
      assert.isFalse(places.all[1]!.isChecking)
      yield* Fiber.join(second)
    })
  )

  it.effect("leave the queue if they are refused", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      yield* added(places, "put", "a")
      const ended = new ValidationError({ operation: "Batch.put", message: "the batch has ended" })
      assert.strictEqual(yield* Effect.flip(added(places, "put", "b", { n: 1 }, () => ended)), ended)
      yield* Effect.flip(added(places, "put", "a", 1))
      yield* Effect.flip(added(places, "put", "a/b"))
      assert.deepStrictEqual(idsOf(places), ["put a"])
      assert.deepStrictEqual([places.documents, places.ready().length], [1, 1])
    })
  )

  it.effect("leave the queue if their caller is interrupted, and who waits for them goes on", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      const large = { rows: Array.from({ length: 50_000 }, (_, n) => ({ n })) }
      const first = yield* Effect.fork(added(places, "put", "a", large))
      while (places.all.length < 1) yield* Effect.yieldNow()
      const second = yield* Effect.fork(added(places, "insert", "a"))
      while (places.all[1]?.checked === undefined && places.all[0]!.checked === undefined)
        yield* Effect.yieldNow()
      yield* Fiber.interrupt(first)
      // The insert finds the document absent from the queue.
      yield* Fiber.join(second)
      assert.deepStrictEqual(idsOf(places), ["insert a"])
    })
  )

  it.effect("refuse the insert of a document that the queue writes, and not of one that it deletes", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      yield* added(places, "put", "a")
      const error = yield* Effect.flip(added(places, "insert", "a"))
      assert.deepStrictEqual(
        [error._tag, error.message],
        ["ConflictError", "notes/a is already written by this queue"]
      )
      assert.strictEqual(error.hint, "put replaces what was queued")
      assert.deepStrictEqual(error._tag === "ConflictError" ? error.conflicts : [], [
        { collection: "notes", id: "a", expected: null, actual: {} }
      ])
      yield* added(places, "delete", "a")
      yield* added(places, "insert", "a")
      assert.deepStrictEqual(idsOf(places), ["put a", "delete a", "insert a"])
    })
  )

  it.effect("that are removed uncover the earlier one on their document", () =>
    Effect.gen(function* () {
      const places = new PendingOperations()
      for (const id of ["a", "b", "a", "a"]) yield* added(places, "put", id)
      const [first, , second, third] = places.all
      places.remove([second!])
      assert.strictEqual(places.documents, 2)
      assert.isTrue(second!.isRemoved)
      places.remove([third!])
      assert.deepStrictEqual([idsOf(places), places.documents], [["put a", "put b"], 2])
      yield* Effect.flip(added(places, "insert", "a"))
      yield* added(places, "put", "a")
      const last = places.all.at(-1)!
      places.remove([first!])
      assert.deepStrictEqual([idsOf(places), places.documents], [["put b", "put a"], 2])
      places.remove([last])
      assert.deepStrictEqual([idsOf(places), places.documents], [["put b"], 1])
      yield* added(places, "insert", "a")
      places.remove(places.all)
      assert.deepStrictEqual([idsOf(places), places.documents], [[], 0])
    })
  )
})
