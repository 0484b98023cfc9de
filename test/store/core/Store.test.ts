import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Layer, Option, Stream } from "effect"
import type { StoreError } from "../../../src/domain/errors/StoreError.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { idsOf } from "../../support/documents.js"
import { hosted, remotes } from "./Remotes.js"

const collect = <A, E>(stream: Stream.Stream<A, E>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

const failure = <A, E extends StoreError>(effect: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(effect), (error) => error._tag)

describe.each([...remotes, ...hosted])("a store on %s", (_name, remote) => {
  const test = (
    title: string,
    body: (store: Store["Type"]) => Effect.Effect<void, unknown>,
    options: StoreOptions = {}
  ) =>
    it.live(title, () =>
      Effect.provide(Effect.flatMap(Store, body), Layer.provide(Store.layer(options), Layer.fresh(remote)))
    )

  test("reads nothing from an empty repository", (store) =>
    Effect.gen(function* () {
      const people = store.collection("people")
      assert.isTrue(Option.isNone(yield* people.get("ada")))
      assert.isFalse(yield* people.exists("ada"))
      assert.deepStrictEqual(yield* people.list(), [])
      assert.strictEqual(yield* people.count, 0)
      assert.deepStrictEqual(yield* collect(people.all()), [])
      assert.deepStrictEqual(yield* people.page(), { documents: [], cursor: null })
      assert.deepStrictEqual(yield* collect(people.pages()), [])
      assert.deepStrictEqual(yield* people.findBy("a", 1), [])
      assert.deepStrictEqual(yield* people.history("ada"), [])
      assert.deepStrictEqual(yield* store.collections, [])
      assert.isTrue(Option.isNone(yield* store.commitSha))
      assert.strictEqual(yield* failure(people.update("ada", {})), "NotFoundError")
      assert.strictEqual(yield* failure(people.delete("ada")), "NotFoundError")
    }))

  test("walks a document through its life", (store) =>
    Effect.gen(function* () {
      const people = store.collection("people")
      const id = yield* people.insert({ name: "Ada", _rev: 77, nested: { a: 1, b: 2 } })
      const first = Option.getOrThrow(yield* people.get(id))
      assert.strictEqual(first._rev, 1)
      assert.strictEqual(first._id, id)
      assert.strictEqual(first._created_at, first._updated_at)
      assert.match(first._created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

      const second = yield* people.update(id, { nested: { c: 3 }, gone: undefined as never, none: null })
      assert.deepStrictEqual(second["nested"], { c: 3 })
      assert.isNull(second["none"])
      assert.isFalse("gone" in second)
      assert.deepStrictEqual([second._rev, second._created_at, second["name"]], [2, first._created_at, "Ada"])
      assert.deepStrictEqual(Option.getOrThrow(yield* people.get(id)), second)

      const third = yield* people.replace(id, { name: "Ada L." }, { expectedRev: 2 })
      assert.deepStrictEqual(
        [third._rev, third["nested"], third._created_at],
        [3, undefined, first._created_at]
      )
      const fourth = yield* people.upsert(id, { born: 1815 })
      assert.deepStrictEqual([fourth._rev, fourth["name"], fourth["born"]], [4, "Ada L.", 1815])
      const other = yield* people.upsert("bob", { name: "Bob" })
      assert.strictEqual(other._rev, 1)

      assert.strictEqual(yield* failure(people.insert({}, { id })), "ConflictError")
      const conflict = yield* Effect.flip(people.update(id, { x: 1 }, { expectedRev: 1 }))
      assert.strictEqual(conflict._tag, "ConflictError")
      if (conflict._tag === "ConflictError") {
        assert.strictEqual(conflict.conflicts[0]?.expected?.rev, 1)
        assert.strictEqual(conflict.conflicts[0]?.actual?.rev, 4)
      }
      assert.strictEqual(yield* failure(people.upsert("eve", {}, { expectedRev: 1 })), "ConflictError")
      assert.strictEqual(yield* failure(people.delete(id, { expectedRev: 3 })), "ConflictError")
      assert.strictEqual(yield* failure(people.replace("eve", {})), "NotFoundError")

      const history = yield* people.history(id)
      assert.deepStrictEqual(
        history.map(({ message }) => message),
        [`update people/${id}`, `replace people/${id}`, `update people/${id}`, `insert people/${id}`]
      )
      assert.strictEqual((yield* people.history(id, { limit: 2 })).length, 2)
      yield* people.delete(id, { message: "good bye" })
      assert.isTrue(Option.isNone(yield* people.get(id)))
      assert.strictEqual((yield* people.history(id))[0]?.message, "good bye")
      yield* people.insert({ name: "again" }, { id })
      assert.strictEqual(Option.getOrThrow(yield* people.get(id))._rev, 1)
      const old = yield* store.at(history[1]!.sha)
      assert.deepStrictEqual(Option.getOrThrow(yield* old.collection("people").get(id)), third)
      assert.deepStrictEqual(yield* store.collections, ["people"])
    }))

  test("queues the writers of one document: none of them meets a conflict with another", (store) =>
    Effect.gen(function* () {
      const c = store.collection("c")
      yield* c.insert({ n: 0 }, { id: "a" })
      const updates = Array.from({ length: 20 }, (_, n) => c.update("a", { [`u${n}`]: n }))
      const batches = Array.from({ length: 5 }, (_, n) =>
        store.batch({}, (batch) => batch.put("c", "a", { n }))
      )
      yield* Effect.all([...updates, ...batches], { concurrency: "unbounded" })
      assert.strictEqual(Option.getOrThrow(yield* c.get("a"))._rev, 26)
      yield* Effect.all(updates, { concurrency: "unbounded" })
      const last = Option.getOrThrow(yield* c.get("a"))
      assert.strictEqual(last._rev, 46)
      assert.deepInclude(last, Object.fromEntries(updates.map((_, n) => [`u${n}`, n])))
    }))

  test("lists, pages and streams in order of id, from one commit", (store) =>
    Effect.gen(function* () {
      const c = store.collection("c")
      const ids = ["a", "A", "a-b", "a.b", "a_b", "b", "ab", "10", "9"]
      yield* Effect.forEach(ids, (id) => c.insert({ n: id.length }, { id }))
      const sorted = [...ids].sort()
      assert.deepStrictEqual(yield* c.list(), sorted)
      assert.deepStrictEqual(yield* c.list({ limit: 2, after: "A" }), sorted.slice(3, 5))
      assert.strictEqual(yield* c.count, 9)
      const view = yield* store.snapshot
      const seen = yield* c.all().pipe(
        Stream.tap(({ _id }) => (_id === "10" ? Effect.orDie(c.delete("b")) : Effect.void)),
        Stream.map(({ _id }) => _id),
        collect
      )
      assert.deepStrictEqual(seen, sorted)
      assert.strictEqual(yield* c.count, 8)
      assert.strictEqual(yield* view.collection("c").count, 9)
      assert.isTrue(Option.isSome(yield* view.collection("c").get("b")))
      assert.deepStrictEqual(
        (yield* collect(view.collection("c").pages({ size: 3 }))).map(
          ({ cursor, documents }): ReadonlyArray<unknown> => [documents.length, cursor]
        ),
        [
          [3, sorted[2]],
          [3, sorted[5]],
          [3, null]
        ]
      )
      const page = yield* c.page({ limit: 4, after: "9" })
      assert.deepStrictEqual(idsOf(page.documents), sorted.slice(2, 6))
      const one = yield* collect(c.find(({ n }) => n === 3, { limit: 2 }))
      assert.deepStrictEqual(idsOf(one), ["a-b", "a.b"])
      assert.strictEqual(
        yield* failure(
          collect(
            c.find(() => {
              throw new Error("bad predicate")
            })
          )
        ),
        "ValidationError"
      )
      const promised = collect(c.find(((document: object) => Promise.resolve(document)) as never))
      assert.strictEqual(yield* failure(promised), "ValidationError")
      const truthy = collect(c.find((({ n }: { n: number }) => (n === 3 ? {} : "")) as never))
      assert.strictEqual((yield* truthy).length, 3)
    }))

  for (const indexes of [undefined, { c: ["tags", "n"] }]) {
    test(
      `finds by field ${indexes === undefined ? "with a scan" : "from the index"}`,
      (store) =>
        Effect.gen(function* () {
          const c = store.collection("c")
          yield* c.insert({ n: 1, tags: ["x", "y"] }, { id: "one" })
          yield* c.insert({ n: "1", tags: [["x"], 1] }, { id: "text" })
          yield* c.insert({ n: null, tags: [] }, { id: "null" })
          yield* c.insert({ n: { a: 1, b: [2] }, tags: ["x", "y"] }, { id: "object" })
          yield* c.insert({ other: true }, { id: "none" })
          const find = (field: string, value: never) => Effect.map(c.findBy(field, value), idsOf)
          const cases: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
            ["n", 1, ["one"]],
            ["n", "1", ["text"]],
            ["n", null, ["null"]],
            ["n", "null", []],
            ["n", { b: [2], a: 1 }, ["object"]],
            ["tags", "x", ["object", "one"]],
            ["tags", ["x", "y"], ["object", "one"]],
            ["tags", ["x"], ["text"]],
            ["tags", [], ["null"]],
            ["tags", 1, ["text"]]
          ]
          for (const [field, value, ids] of cases)
            assert.deepStrictEqual(yield* find(field, value as never), ids)
          const how = yield* c.explain("n", 1)
          assert.strictEqual(how.source, indexes === undefined ? "scan" : "index")
          assert.deepStrictEqual(idsOf(yield* c.findBy("tags", "x", { limit: 1 })), ["object"])
          assert.deepStrictEqual(idsOf(yield* c.findBy("tags", "x", { after: "object" })), ["one"])
          yield* c.update("one", { tags: "z" })
          yield* c.delete("object")
          assert.deepStrictEqual(yield* find("tags", "x" as never), [])
          assert.deepStrictEqual(yield* find("tags", "z" as never), ["one"])
          const findings = yield* store.doctor
          assert.deepStrictEqual([...new Set(findings.map(({ severity }) => severity))], ["ok"])
        }),
      indexes === undefined ? {} : { indexes, manifests: { c: ["n"] } }
    )
  }

  test(
    "keeps a hash-sharded layout under a nested root",
    (store) =>
      Effect.gen(function* () {
        const c = store.collection("c")
        yield* Effect.forEach(["a", "b", "abcdef"], (id) => c.insert({ id }, { id }))
        assert.deepStrictEqual(yield* c.list(), ["a", "abcdef", "b"])
        assert.strictEqual((yield* collect(c.all())).length, 3)
        assert.isTrue(yield* c.exists("abcdef"))
        yield* c.delete("abcdef")
        assert.deepStrictEqual(yield* c.list(), ["a", "b"])
        assert.deepStrictEqual(yield* store.collections, ["c"])
      }),
    { root: "/deep/er/", shardBy: "hash", shardDepth: 1, shardWidth: 2 }
  )

  test(
    "works at the root of the repository",
    (store) =>
      Effect.gen(function* () {
        const c = store.collection("constructor")
        yield* c.insert({ ["__proto__"]: { polluted: true }, constructor: "x" } as never, { id: "toString" })
        const read = Option.getOrThrow(yield* c.get("toString"))
        assert.strictEqual(read["constructor"] as unknown, "x")
        yield* c.update("toString", JSON.parse('{"__proto__": {"polluted": 2}, "v": "__proto__"}'))
        assert.deepStrictEqual((yield* c.findBy("v", "__proto__")).length, 1)
        const again = Option.getOrThrow(yield* c.get("toString"))
        assert.deepStrictEqual(Object.getOwnPropertyDescriptor(again, "__proto__")?.value, { polluted: 2 })
        assert.isUndefined(({} as { polluted?: unknown }).polluted)
        assert.deepStrictEqual(yield* store.collections, ["constructor"])
      }),
    {
      root: "",
      indexes: { constructor: ["v"] } as never,
      manifests: { constructor: ["v", "constructor"] } as never
    }
  )

  test("hands out what a caller may change without harm", (store) =>
    Effect.gen(function* () {
      const c = store.collection("c")
      const given = { list: [{ x: 1 }] }
      yield* c.insert(given, { id: "a" })
      given.list[0]!.x = 2
      const change = (document: object) => {
        ;(document as { list: Array<{ x: number }> }).list[0]!.x = 3
      }
      change(Option.getOrThrow(yield* c.get("a")))
      change(Option.getOrThrow(yield* c.get("a")))
      change((yield* collect(c.all()))[0]!)
      const patch = { more: { y: 1 } }
      change(yield* c.update("a", patch))
      patch.more.y = 2
      const read = Option.getOrThrow(yield* c.get("a"))
      assert.deepStrictEqual([read["list"], read["more"]], [[{ x: 1 }], { y: 1 }])
      const view = (yield* store.snapshot).collection("c")
      change(Option.getOrThrow(yield* view.get("a")))
      assert.deepStrictEqual(Option.getOrThrow(yield* view.get("a"))["list"], [{ x: 1 }])
    }))

  test(
    "rebuilds concurrent writes so that none is lost",
    (store) =>
      Effect.gen(function* () {
        const c = store.collection("c")
        yield* c.insert({ n: 0 }, { id: "counter" })
        yield* Effect.forEach(Array.from({ length: 30 }), (_, at) => c.insert({ at }), {
          concurrency: "unbounded"
        })
        assert.strictEqual(yield* c.count, 31)
        yield* Effect.forEach(Array.from({ length: 20 }), () => c.upsert("counter", { touched: true }), {
          concurrency: "unbounded",
          discard: true
        }).pipe(Effect.retry({ times: 40 }))
        assert.isAtLeast(Option.getOrThrow(yield* c.get("counter"))._rev, 21)
        assert.isTrue((yield* store.doctor).every(({ severity }) => severity === "ok"))
      }),
    { indexes: { c: ["at"] }, manifests: ["c"] }
  )
})
