import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { StoreError, ValidationError } from "../../../src/domain/errors/StoreError.js"
import { Cache } from "../../../src/store/Cache.js"
import { GitRemote, type GitRemoteService, takesRequests } from "../../../src/store/remote/GitRemote.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { idsOf } from "../../support/documents.js"
import { hosted, remotes } from "./Remotes.js"

/** Somebody else's commit: files with these texts, or none to remove one. */
const commit = (
  remote: GitRemoteService,
  files: { readonly [path: string]: string | null },
  branch = "main"
) =>
  Effect.flatMap(remote.head(branch), (head) =>
    remote.commit(branch, head, {
      message: "by hand",
      changes: Object.entries(files).map(([path, text]) =>
        text === null
          ? { _tag: "Remove" as const, path }
          : { _tag: "Put" as const, path, content: new TextEncoder().encode(text) }
      )
    })
  )

const fails = <A, E>(effect: Effect.Effect<A, E>, tag: string, text?: RegExp) =>
  Effect.map(Effect.flip(effect), (error) => {
    if (!(error instanceof StoreError)) throw error
    assert.strictEqual(error._tag, tag, error.message)
    if (text !== undefined) assert.match(`${error.message} ${error.hint ?? ""}`, text)
    return error
  })

const open = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

describe.each([...remotes, ...hosted])("bad input and faults on %s", (_name, layer) => {
  const test = (title: string, body: (remote: GitRemoteService) => Effect.Effect<void, unknown>) =>
    it.live(title, () => Effect.provide(Effect.flatMap(GitRemote, body), Layer.fresh(layer)))

  test("arguments", (remote) =>
    Effect.gen(function* () {
      const store = yield* open(remote)
      const c = store.collection("c")
      yield* c.insert({ a: 1 }, { id: "a" })
      const before = yield* store.commitSha
      for (const id of ["", "a\n", "../a", "a/b", "a..b", "-a", "x".repeat(129), 7 as never]) {
        yield* fails(c.get(id), "ValidationError", /id/)
        yield* fails(c.insert({}, { id }), "ValidationError", /id/)
        yield* fails(c.delete(id), "ValidationError", /id/)
      }
      for (const name of ["", "_index", "a/b", "..", "a\n", ".git"]) {
        yield* fails(store.collection(name).count, "ValidationError", /collection/)
        yield* fails(store.collection(name).insert({}), "ValidationError", /collection/)
      }
      yield* fails(c.list({ limit: 0 }), "ValidationError", /limit/)
      yield* fails(c.page({ limit: 1.5 }), "ValidationError", /limit/)
      yield* fails(c.page({ after: "../x" }), "ValidationError", /cursor/)
      yield* fails(Stream.runDrain(c.pages({ size: 0 })), "ValidationError", /size/)
      yield* fails(Stream.runDrain(c.all({ limit: -1 })), "ValidationError", /limit/)
      yield* fails(c.history("a", { limit: 0 }), "ValidationError", /limit/)
      yield* fails(c.findBy("", 1), "ValidationError", /field/)
      yield* fails(c.findBy("a", Number.NaN), "ValidationError", /NaN/)
      yield* fails(c.insert({ deep: { list: [1, Number.NaN] } }), "ValidationError", /deep\.list\[1\]/)
      yield* fails(c.insert({ when: new Date() as never }), "ValidationError", /when/)
      yield* fails(c.insert({}, { message: "a\0b" }), "ValidationError", /message/)
      yield* fails(c.reindex({ message: "a\0b" }), "ValidationError", /message/)
      yield* fails(c.insert([] as never), "ValidationError", /object/)
      yield* fails(c.insert(null as never), "ValidationError", /object/)
      for (const other of [new Map([["a", 1]]), new Set([1]), new Date(), new Error("x")]) {
        yield* fails(c.insert(other as never), "ValidationError", /object/)
        yield* fails(c.replace("a", other as never), "ValidationError", /object/)
        yield* fails(c.update("a", other as never), "ValidationError", /object/)
      }
      yield* fails(c.update("a", "text" as never), "ValidationError", /object/)
      yield* fails(c.update("a", { big: 1n as never }), "ValidationError", /big/)
      yield* fails(c.replace("a", { _id: "b" }), "ValidationError", /contradicts/)
      yield* fails(store.at(""), "ValidationError")
      yield* fails(store.at("no-such-ref"), "NotFoundError", /no-such-ref/)
      assert.isTrue(Option.isNone(yield* store.resolveRef("no-such-ref")))
      assert.deepStrictEqual(yield* store.commitSha, before)
      assert.strictEqual((yield* c.replace("a", { _id: "a" }))._rev, 2)
    }))

  test("options", (remote) =>
    Effect.gen(function* () {
      const bad: ReadonlyArray<readonly [object, RegExp]> = [
        [{ branch: "a..b" }, /branch/],
        [{ branch: "refs/heads/main" }, /without refs\/heads/],
        [{ root: "../x" }, /root/],
        [{ cache: {} }, /Cache/],
        [{ cache: new Map() }, /Cache/],
        [{ conflictRetries: -1 }, /conflictRetries/],
        [{ concurrency: 0 }, /concurrency/],
        [{ shardBy: "trailing" }, /shardBy/],
        [{ shardDepth: 1.5 }, /shardDepth/],
        [{ indexes: { _x: ["a"] } }, /indexes/],
        [{ manifests: 1 }, /manifests/],
        [{ author: { name: "A", email: "a>b" } }, /author/],
        [{ deadline: "soon" }, /deadline/],
        [{ readOnly: 1 }, /readOnly/]
      ]
      for (const [options, text] of bad)
        yield* fails(open(remote, options as StoreOptions), "ValidationError", text)
    }))

  test("ids that the layout has no place for", (remote) =>
    Effect.gen(function* () {
      const c = (yield* open(remote, { shardDepth: 2, shardWidth: 1 })).collection("c")
      yield* c.insert({}, { id: "abc" })
      assert.isTrue(Option.isNone(yield* c.get("a.b")))
      assert.isFalse(yield* c.exists("a.b"))
      assert.deepStrictEqual(yield* c.history("a.b"), [])
      yield* fails(c.upsert("a.b", {}), "ValidationError", /shard/)
      yield* fails(c.delete("a.b"), "ValidationError", /shard/)
    }))

  test("files that somebody wrote by hand", (remote) =>
    Effect.gen(function* () {
      yield* commit(remote, {
        "data/c/broken.json": "{",
        "data/c/list.json": "[1]",
        "data/c/good.json": '{"x": 1}',
        "data/c/latin.json.txt": "ignored",
        "data/c/sub/deep.json": "{}",
        "data/file": "not a directory"
      })
      const store = yield* open(remote, { indexes: { c: ["x"] }, manifests: ["c"] })
      const c = store.collection("c")
      yield* fails(c.get("broken"), "ValidationError", /data\/c\/broken\.json is not JSON/)
      yield* fails(c.get("list"), "ValidationError", /object/)
      yield* fails(c.update("broken", { a: 1 }), "ValidationError", /replace or delete/)
      yield* fails(Stream.runCollect(c.all()), "ValidationError", /broken/)
      const reported: Array<string> = []
      const some = yield* Stream.runCollect(
        c.all({ onInvalid: (id) => Effect.sync(() => void reported.push(id)) })
      )
      assert.deepStrictEqual(
        [...some].map(({ _id, _rev }) => [_id, _rev]),
        [["good", 0]]
      )
      assert.deepStrictEqual(reported, ["broken", "list"])
      assert.strictEqual((yield* Stream.runCollect(c.all({ onInvalid: "skip" }))).length, 1)
      assert.deepStrictEqual(yield* c.list(), ["broken", "good", "list"])
      yield* fails(store.collection("file").insert({}), "ValidationError", /is a file/)
      if (!takesRequests(remote)) {
        const codes = (yield* store.doctor).map(({ code }) => code)
        for (const code of ["unreadable", "misplaced", "foreign-id"]) assert.include(codes, code)
      }
      assert.strictEqual((yield* c.replace("broken", { x: 2 }))._rev, 1)
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["good"])
      const mended = yield* c.update("good", { y: 1 })
      assert.deepStrictEqual([mended._rev, mended["x"]], [1, 1])
      yield* c.delete("list")
      assert.isTrue((yield* store.doctor).every(({ code }) => !code.startsWith("index")))
    }))

  test("a directory where a document should be", (remote) =>
    Effect.gen(function* () {
      yield* commit(remote, { "data/c/a.json/inner.txt": "precious" })
      const c = (yield* open(remote)).collection("c")
      assert.isTrue(Option.isNone(yield* c.get("a")))
      const tag = _name === "Memory with single files" ? "ConflictError" : "ValidationError"
      yield* fails(c.insert({}, { id: "a" }), tag)
      const head = Option.getOrThrow(yield* remote.head("main"))
      assert.isTrue(Option.isSome(yield* remote.file(head, "data/c/a.json/inner.txt")))
    }))

  test("numbers that JavaScript cannot hold", (remote) =>
    Effect.gen(function* () {
      yield* commit(remote, { "data/c/a.json": '{"big": 9007199254740993, "n": 1.0}' })
      const c = (yield* open(remote)).collection("c")
      const read = Option.getOrThrow(yield* c.get("a"))
      assert.strictEqual(read["n"], 1)
      yield* fails(c.update("a", { n: 2 }), "ValidationError", /9007199254740993 at big/)
      yield* fails(c.replace("a", { renamed: read["big"]! }), "ValidationError", /big/)
      const kept = yield* c.update("a", { big: "9007199254740993" })
      assert.deepStrictEqual([kept["big"], kept._rev], ["9007199254740993", 1])
    }))

  test("a missing branch of a repository that is not empty", (remote) =>
    Effect.gen(function* () {
      yield* (yield* open(remote)).collection("c").insert({}, { id: "a" })
      const store = yield* open(remote, { branch: "nope" })
      const c = store.collection("c")
      yield* fails(c.get("a"), "NotFoundError", /no branch nope/)
      yield* fails(c.count, "NotFoundError", /no branch nope/)
      yield* fails(Stream.runDrain(c.all()), "NotFoundError", /no branch nope/)
      yield* fails(c.insert({}), "NotFoundError")
      yield* fails(store.snapshot, "NotFoundError", /no branch nope/)
      yield* fails(open(remote, { ref: "v1" }), "NotFoundError", /v1/)
    }))

  test("stores for reading", (remote) =>
    Effect.gen(function* () {
      const writer = yield* open(remote)
      yield* writer.collection("c").insert({ v: 1 }, { id: "a" })
      const sha = Option.getOrThrow(yield* writer.commitSha)
      yield* writer.collection("c").update("a", { v: 2 })
      const reader = yield* open(remote, { readOnly: true })
      const past = yield* open(remote, { ref: sha })
      for (const [store, v] of [
        [reader, 2],
        [past, 1]
      ] as const) {
        const c = store.collection("c")
        assert.strictEqual(Option.getOrThrow(yield* c.get("a"))["v"], v)
        yield* fails(c.insert({}), "AuthError", /reading/)
        yield* fails(c.update("a", {}), "AuthError")
        yield* fails(c.delete("a"), "AuthError")
        yield* fails(c.reindex(), "AuthError")
        yield* fails(
          store.batch({}, (batch) => batch.put("c", "b", {})),
          "AuthError"
        )
      }
    }))

  test("settings are adopted, kept and guarded", (remote) =>
    Effect.gen(function* () {
      const options: StoreOptions = {
        shardBy: "hash",
        shardDepth: 1,
        indexes: { c: ["x"] },
        manifests: { c: ["x"] }
      }
      const first = yield* open(remote, options)
      yield* first.collection("c").insert({ x: 1 }, { id: "a" })
      const second = yield* open(remote)
      yield* second.collection("c").insert({ x: 1 }, { id: "b" })
      assert.deepStrictEqual(idsOf(yield* first.collection("c").findBy("x", 1)), ["a", "b"])
      assert.strictEqual((yield* second.collection("c").explain("x", 1)).source, "index")
      const third = yield* open(remote, { shardDepth: 0 })
      yield* fails(third.collection("c").get("a"), "ValidationError", /shardDepth/)
      yield* fails(third.collection("c").insert({}), "ValidationError", /adopt/)
      const fourth = yield* open(remote, { indexes: { c: ["y"] } })
      yield* fails(fourth.collection("c").count, "ValidationError", /indexes/)
      yield* commit(remote, {
        "data/_chainstore.json": '{"format": 3, "shardBy": "hash", "shardDepth": 1, "new": 1}'
      })
      const fifth = yield* open(remote)
      assert.strictEqual(yield* fifth.collection("c").count, 2)
      yield* fails(fifth.collection("c").insert({}), "ValidationError", /format 3.*newer version/)
      yield* commit(remote, { "data/_chainstore.json": "{" })
      yield* fails((yield* open(remote)).collection("c").get("a"), "ValidationError", /_chainstore\.json/)
    }))

  test("a sharded store is not put over plain documents", (remote) =>
    Effect.gen(function* () {
      yield* (yield* open(remote)).collection("c").insert({}, { id: "a" })
      const sharded = yield* open(remote, { shardDepth: 1 })
      yield* fails(sharded.collection("d").insert({}), "ValidationError", /plain layout/)
    }))

  test("an index that somebody left behind", (remote) =>
    Effect.gen(function* () {
      const store = yield* open(remote, { indexes: { c: ["x"] }, manifests: ["c"] })
      const c = store.collection("c")
      yield* c.insert({ x: 1 }, { id: "a" })
      yield* commit(remote, { "data/c/b.json": '{"x": 1}' })
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a", "b"])
      const how = yield* c.explain("x", 1)
      assert.deepStrictEqual([how.source, how.current], ["scan", false])
      assert.include(
        (yield* store.doctor).map(({ code }) => code),
        "index-stale"
      )
      yield* c.insert({ x: 2 }, { id: "z" })
      assert.strictEqual((yield* c.explain("x", 1)).source, "index")
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a", "b"])
      yield* commit(remote, { "data/c/b.json": null })
      assert.isTrue(Option.isSome(yield* c.reindex()))
      assert.isTrue(Option.isNone(yield* c.reindex()))
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a"])
    }))

  test("index and manifest files of a repository without settings are kept up", (remote) =>
    Effect.gen(function* () {
      yield* commit(remote, {
        "data/c/a.json": '{"x": 1.0, "y": "Y"}',
        "data/_index/c/x.json":
          '{"_index": "x", "collection": "c", "values": {"1.0": ["a"]}, "ids": {"a": ["1.0"]}}',
        "data/_manifest/c.json":
          '{"collection": "c", "count": 1, "ids": ["a"], "documents": {"a": {"y": "Y"}}}'
      })
      const store = yield* open(remote)
      const c = store.collection("c")
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a"])
      assert.strictEqual((yield* c.explain("x", 1)).source, "scan")
      yield* c.insert({ x: 1, y: "Z" }, { id: "b" })
      assert.deepStrictEqual(idsOf(yield* c.findBy("x", 1)), ["a", "b"])
      const head = Option.getOrThrow(yield* remote.head("main"))
      const manifest = Option.getOrThrow(yield* remote.file(head, "data/_manifest/c.json"))
      assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(manifest.content)).documents, {
        a: { y: "Y" },
        b: { y: "Z" }
      })
      assert.isTrue((yield* store.doctor).every(({ code }) => !/^(index|manifest)/.test(code)))
    }))

  test("a schema that does not fit", (remote) =>
    Effect.gen(function* () {
      const store = yield* open(remote)
      const Person = Schema.Struct({
        name: Schema.NonEmptyString,
        born: Schema.optional(Schema.DateFromString),
        tags: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
      })
      const people = store.collection("people", Person)
      const raw = store.collection("people")
      const id = yield* people.insert({ name: "Ada", born: new Date("1815-12-10T00:00:00Z"), tags: [] })
      const stored = Option.getOrThrow(yield* raw.get(id))
      assert.strictEqual(stored["born"], "1815-12-10T00:00:00.000Z")
      yield* raw.update(id, { foreign: { kept: true } })
      const ada = yield* people.update(id, { name: "Ada L." })
      assert.deepStrictEqual([ada.name, ada.born?.getUTCFullYear(), ada._rev], ["Ada L.", 1815, 3])
      assert.deepStrictEqual(Option.getOrThrow(yield* raw.get(id))["foreign"], { kept: true })
      yield* fails(people.insert({ name: "", tags: [] }), "ValidationError", /name/)
      yield* fails(people.update(id, { name: "" }), "ValidationError", /name/)
      yield* fails(people.upsert(id, { name: "", tags: [] }), "ValidationError", /name/)
      assert.strictEqual(Option.getOrThrow(yield* people.get(id))._rev, 3)
      yield* raw.update(id, { name: 7 })
      const error = yield* fails(people.get(id), "ValidationError", /name/)
      if (error instanceof ValidationError)
        assert.deepStrictEqual(
          error.issues?.map(({ path }) => path),
          ["name"]
        )
      yield* fails(Stream.runDrain(people.all()), "ValidationError", /name/)
      assert.strictEqual((yield* Stream.runCollect(people.all({ onInvalid: "skip" }))).length, 0)
      const mended = yield* Effect.either(people.replace(id, { name: "Ada", tags: ["x"] }))
      assert.strictEqual(mended._tag, "Right")
      const found = yield* people.findBy("name", "Ada")
      assert.deepStrictEqual(
        found.map(({ tags }) => tags),
        [["x"]]
      )

      const Plain = Schema.Struct({ price: Schema.Number, name: Schema.String })
      yield* raw.insert({ name: "old" }, { id: "old" })
      const priced = store.collection("people", Plain)
      assert.strictEqual((yield* priced.update("old", { price: 5 })).price, 5)
      class Thing extends Schema.Class<Thing>("Thing")({ size: Schema.NumberFromString }) {
        get double() {
          return this.size * 2
        }
      }
      const things = store.collection("things", Thing)
      const thing = yield* things.insert(new Thing({ size: 2 }))
      const read = Option.getOrThrow(yield* things.get(thing))
      assert.deepStrictEqual([read.double, read._rev, read._id], [4, 1, thing])
      assert.strictEqual((yield* things.update(thing, { size: 5 })).double, 10)
    }))

  test("a cache that fails, returns wrong entries or is shared", (remote) =>
    Effect.gen(function* () {
      class Broken extends Cache {
        get(): Effect.Effect<never> {
          return Effect.die("broken")
        }
        set() {
          return Effect.die("broken")
        }
        delete() {
          return Effect.die("broken")
        }
        readonly clear = Effect.void
      }
      class Lying extends Cache {
        get() {
          return Effect.succeedSome({ oid: "x", content: "text" } as never)
        }
        set() {
          return Effect.void
        }
        delete() {
          return Effect.void
        }
        readonly clear = Effect.void
      }
      for (const cache of [new Broken(), new Lying(), false]) {
        const c = (yield* open(remote, { cache })).collection("c")
        const id = yield* c.insert({ v: 1 })
        yield* c.update(id, { v: 2 })
        assert.strictEqual(Option.getOrThrow(yield* c.get(id))["v"], 2)
        yield* c.delete(id)
        assert.isTrue(Option.isNone(yield* c.get(id)))
      }
    }))

  test("two stores see each other's writes", (remote) =>
    Effect.gen(function* () {
      const one = (yield* open(remote)).collection("c")
      const two = (yield* open(remote)).collection("c")
      yield* one.insert({ v: 1 }, { id: "a" })
      assert.strictEqual(Option.getOrThrow(yield* two.get("a"))["v"], 1)
      yield* one.update("a", { v: 2 })
      assert.strictEqual((yield* two.update("a", { w: 1 }))["v"], 2)
      yield* one.delete("a")
      yield* fails(two.update("a", {}), "NotFoundError")
      yield* one.insert({ v: 3 }, { id: "a" })
      yield* fails(two.update("a", {}, { expectedRev: 3 }), "ConflictError")
      assert.strictEqual((yield* two.update("a", {}, { expectedRev: 1 }))._rev, 2)
    }))
})
