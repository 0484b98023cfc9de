import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import {
  type ConflictError,
  NotFoundError,
  type ValidationError
} from "../../../src/domain/errors/StoreError.js"
import { idsOf } from "../../support/documents.js"
import { brief, document, expectFailure, headSha, messages, type StorePair, storePair } from "./StorePair.js"

const options = { indexes: { notes: ["n"] }, manifests: ["notes"] }

const shas = ({ store }: StorePair, id: string) =>
  Effect.map(store.collection("notes").history(id), (entries) => entries.map(({ sha }) => sha).reverse())

const foreign = (
  { remote }: StorePair,
  files: Readonly<Record<string, string | null>>,
  message = "by hand"
) =>
  Effect.gen(function* () {
    const head = yield* remote.head("main")
    return yield* remote.commit("main", head, {
      message,
      changes: Object.entries(files).map(([path, text]) =>
        text === null
          ? { _tag: "Remove" as const, path }
          : { _tag: "Put" as const, path, content: new TextEncoder().encode(text) }
      )
    })
  })

describe("restore", () => {
  it.live("restores a version exactly; _rev continues, _created_at stays", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "a" })
      const first = (yield* document(it.store, "notes", "a"))!
      yield* notes.update("a", { n: 2, later: true })
      const [sha] = yield* shas(it, "a")
      const restored = yield* notes.restore("a", sha!.slice(0, 10))
      assert.deepStrictEqual(brief(restored), [3, { n: 1 }])
      assert.strictEqual(restored._created_at, first._created_at)
      assert.deepStrictEqual(yield* document(it.other, "notes", "a"), restored)
      assert.deepStrictEqual((yield* messages(it)).at(-1), `restore notes/a from ${sha!.slice(0, 7)}`)
      assert.strictEqual((yield* it.other.collection("notes").findBy("n", 1)).length, 1)
      assert.strictEqual((yield* it.other.collection("notes").findBy("n", 2)).length, 0)
      assert.strictEqual((yield* notes.history("a")).length, 3, "history is not rewritten")
    })
  )

  it.live("re-creates a missing document with its old _created_at and _rev + 1", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "a" })
      const second = yield* notes.update("a", { n: 2 })
      yield* notes.delete("a")
      const [, sha] = yield* shas(it, "a")
      const restored = yield* notes.restore("a", sha!, { message: "mine" })
      assert.deepStrictEqual(brief(restored), [3, { n: 2 }])
      assert.strictEqual(restored._created_at, second._created_at)
      assert.deepStrictEqual((yield* messages(it)).at(-1), "mine")
    })
  )

  it.live("a version without the document, a missing commit and a broken version are refused", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      const notes = it.store.collection("notes")
      yield* notes.insert({}, { id: "other" })
      const before = yield* headSha(it)
      yield* notes.insert({}, { id: "a" })
      const error = yield* expectFailure<NotFoundError>(notes.restore("a", before), "NotFoundError")
      assert.instanceOf(error, NotFoundError)
      yield* expectFailure(notes.restore("a", "0123456789"), "NotFoundError")
      yield* expectFailure(notes.restore("../a", before), "ValidationError")
      const broken = yield* foreign(it, { "data/notes/a.json": "{ not json" })
      yield* expectFailure(notes.restore("a", broken.commit), "ValidationError")
    })
  )
})

describe("revert", () => {
  it.live("undoes the documents of a commit with a forward commit, indexes and manifest in step", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      const notes = it.store.collection("notes")
      yield* it.store.batch({}, (b) =>
        Effect.all([b.put("notes", "a", { n: 1 }), b.put("notes", "b", { n: 1 })])
      )
      const { commitSha } = yield* it.store.batch({}, (b) =>
        Effect.all([b.put("notes", "a", { n: 2 }), b.delete("notes", "b"), b.put("notes", "c", { n: 2 })])
      )
      yield* notes.insert({ n: 1 }, { id: "later" })
      const sha = Option.getOrThrow(commitSha)
      const reverted = yield* it.store.revert(sha.slice(0, 8))
      assert.strictEqual(reverted.commitSha, yield* headSha(it))
      assert.deepStrictEqual(reverted.skipped, [])
      assert.deepStrictEqual(reverted.documents.map(({ id }) => id).sort(), ["a", "b", "c"])
      assert.deepStrictEqual((yield* messages(it)).at(-1), `revert ${sha.slice(0, 7)}`)
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [3, { n: 1 }])
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "b")), [2, { n: 1 }])
      assert.isNull(yield* document(it.other, "notes", "c"))
      const found = yield* it.other.collection("notes").findBy("n", 1)
      assert.deepStrictEqual(idsOf(found), ["a", "b", "later"])
      assert.isTrue((yield* it.other.collection("notes").explain("n", 1)).current)
    })
  )

  it.live("documents changed again since then are a conflict that lists them, unless forced", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      const notes = it.store.collection("notes")
      yield* it.store.batch({}, (b) => Effect.forEach(["a", "b", "c"], (id) => b.put("notes", id, { n: 1 })))
      const { commitSha } = yield* it.store.batch({}, (b) =>
        Effect.forEach(["a", "b", "c"], (id) => b.put("notes", id, { n: 2 }))
      )
      yield* notes.update("a", { n: 3 })
      yield* notes.delete("b")
      const head = yield* headSha(it)
      const sha = Option.getOrThrow(commitSha)
      const error = yield* expectFailure<ConflictError>(it.store.revert(sha), "ConflictError")
      assert.deepStrictEqual(
        error.conflicts.map(({ id }) => id),
        ["a", "b"]
      )
      assert.strictEqual(yield* headSha(it), head)
      yield* it.store.revert(sha, { force: true, message: "all of it" })
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [4, { n: 1 }])
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "b")), [2, { n: 1 }])
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "c")), [3, { n: 1 }])
    })
  )

  it.live("files that are not documents are left alone and listed", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* foreign(it, { "README.md": "1", "data/notes/broken.json": "[" })
      const document_ = JSON.stringify({ _id: "a", _rev: 1, n: 1 })
      const made = yield* foreign(it, {
        "README.md": "2",
        "data/notes/a.json": document_,
        "data/notes/readme.txt": "x",
        "data/notes/broken.json": JSON.stringify({ mended: true })
      })
      const reverted = yield* it.store.revert(made.commit)
      assert.deepStrictEqual(reverted.documents, [{ collection: "notes", id: "a" }])
      assert.deepStrictEqual(reverted.skipped, [
        "README.md",
        "data/notes/broken.json",
        "data/notes/readme.txt"
      ])
      assert.isNull(yield* document(it.store, "notes", "a"))
      const file = yield* it.remote.snapshot("main").file("README.md")
      assert.strictEqual(new TextDecoder().decode(Option.getOrThrow(file).content), "2")
    })
  )

  it.live("a first commit, a missing one, and one without documents are refused", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const root = yield* foreign(it, { "README.md": "1" })
      yield* expectFailure(it.store.revert(root.commit), "ValidationError")
      yield* expectFailure(it.store.revert("0123456789"), "NotFoundError")
      const other = yield* foreign(it, { "README.md": "2" })
      const error = yield* expectFailure<ValidationError>(it.store.revert(other.commit), "ValidationError")
      assert.deepStrictEqual(
        error.issues?.map(({ path }) => path),
        ["README.md"]
      )
    })
  )

  it.live("a merge commit is reverted against its first parent", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "a" })
      const base = Option.getOrThrow(yield* it.remote.head("main"))
      yield* it.remote.createBranch("side", base.commit)
      yield* it.store.onBranch("side").collection("notes").insert({ n: 2 }, { id: "theirs" })
      yield* notes.update("a", { n: 9 })
      const side = Option.getOrThrow(yield* it.remote.head("side"))
      const main = Option.getOrThrow(yield* it.remote.head("main"))
      const theirs = Option.getOrThrow(yield* it.remote.file(side, "data/notes/theirs.json"))
      const merged = yield* it.remote.commit("scratch", Option.none(), {
        message: "tree",
        changes: [
          { _tag: "Link", path: "data/notes/theirs.json", oid: theirs.oid },
          {
            _tag: "Put",
            path: "data/notes/a.json",
            content: Option.getOrThrow(yield* it.remote.file(main, "data/notes/a.json")).content
          }
        ]
      })
      const oid = it.repository.merge(merged.tree, [main.commit, side.commit])
      const reverted = yield* it.store.revert(oid)
      assert.deepStrictEqual(reverted.documents, [{ collection: "notes", id: "theirs" }])
      assert.deepStrictEqual(brief(yield* document(it.store, "notes", "a")), [2, { n: 9 }])
    })
  )

  it.live("a commit of 3,000 documents is reverted, and a revert of the revert restores them", () =>
    Effect.gen(function* () {
      const it = yield* storePair(options)
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "seed" })
      const { commitSha } = yield* it.store.batch({}, (b) =>
        Effect.forEach(Array.from({ length: 3_000 }), (_, n) => b.put("notes", `n${n}`, { n: n % 7 }), {
          discard: true
        })
      )
      const reverted = yield* it.store.revert(Option.getOrThrow(commitSha))
      assert.strictEqual(reverted.documents.length, 3_000)
      assert.strictEqual(yield* it.other.collection("notes").count, 1)
      yield* it.store.revert(reverted.commitSha)
      assert.strictEqual(yield* it.other.collection("notes").count, 3_001)
      const back = yield* document(it.other, "notes", "n10")
      assert.deepStrictEqual(brief(back), [2, { n: 3 }])
      assert.strictEqual((yield* it.other.collection("notes").findBy("n", 3)).length, 429)
    })
  )

  it.live("a revert meets a write that comes in between", () =>
    Effect.gen(function* () {
      let meddle: Effect.Effect<unknown, unknown> = Effect.void
      const it = yield* storePair(options, {
        onWrite: (_operation, point) =>
          point === "moving"
            ? Effect.suspend(() => {
                const once = meddle
                meddle = Effect.void
                return Effect.orDie(Effect.asVoid(once))
              })
            : Effect.void
      })
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 1 }, { id: "a" })
      yield* notes.update("a", { n: 2 })
      const sha = yield* headSha(it)
      meddle = it.other.collection("notes").insert({ n: 1 }, { id: "b" })
      yield* it.store.revert(sha)
      assert.strictEqual((yield* it.other.collection("notes").findBy("n", 1)).length, 2)
      yield* notes.update("a", { n: 3 })
      const again = yield* headSha(it)
      meddle = it.other.collection("notes").update("a", { n: 4 })
      yield* expectFailure(it.store.revert(again), "ConflictError")
      assert.deepStrictEqual(brief(yield* document(it.other, "notes", "a")), [5, { n: 4 }])
    })
  )
})
