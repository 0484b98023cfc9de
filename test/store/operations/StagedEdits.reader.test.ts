import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { JsonObject } from "../../../src/domain/Document.js"
import type { StagedEdit } from "../../../src/store/browse/index.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { byHand, file } from "../core/ByHand.js"
import { document, editing, world } from "./Support.js"

const print = (value: JsonObject) => JSON.stringify(value)

const open = (options: StoreOptions = {}) =>
  Effect.gen(function* () {
    const it = yield* world(options)
    const notes = it.store.collection("notes")
    return { ...it, ...(yield* editing(it, "notes")), notes }
  })

describe("publishing again an edit that was merged", () => {
  it.live("counts nothing twice", () =>
    Effect.gen(function* () {
      const it = yield* open({ merge: { notes: { n: "counter" } } })
      yield* it.notes.insert({ n: 5 }, { id: "x" })
      const edit = yield* it.begin("x", print({ n: 6 }))
      yield* it.other.collection("notes").update("x", { n: 7 })
      // Its reply is lost.
      yield* it.edits.publish([edit], "one more")
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], 8)
      const { commit } = yield* it.edits.publish([edit], "one more")
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["n"], 8)
      assert.isNull(commit)
    })
  )

  it.live("inserts nothing twice into a sequence", () =>
    Effect.gen(function* () {
      const it = yield* open({ merge: { notes: { rows: { sequence: "byContent" } } } })
      yield* it.notes.insert({ rows: ["a"] }, { id: "x" })
      const edit = yield* it.begin("x", print({ rows: ["a", "mine"] }))
      yield* it.other.collection("notes").update("x", { rows: ["a", "theirs"] })
      yield* it.edits.publish([edit], "one more")
      const once = (yield* document(it.other, "notes", "x"))!["rows"]
      yield* it.edits.publish([edit], "one more")
      assert.deepStrictEqual((yield* document(it.other, "notes", "x"))!["rows"], once)
    })
  )

  it.live("writes nothing over what others have taken back", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ title: "A", text: "one" }, { id: "x" })
      const edit = yield* it.begin("x", print({ title: "mine", text: "one" }))
      yield* it.other.collection("notes").update("x", { text: "two" })
      yield* it.edits.publish([edit], "first")
      yield* it.other.collection("notes").update("x", { title: "A" })
      const { commit } = yield* it.edits.publish([edit], "again")
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["title"], "A")
      assert.isNull(commit)
    })
  )

  it.live("settles nothing twice", () =>
    Effect.gen(function* () {
      const it = yield* open({ merge: { notes: { n: "counter" } } })
      yield* it.notes.insert({ n: 5, title: "A" }, { id: "x" })
      const edit = yield* it.begin("x", print({ n: 6, title: "mine" }))
      yield* it.other.collection("notes").update("x", { n: 7, title: "theirs" })
      const refused = yield* it.edits.review([edit])
      const against = refused.edits[0]!.conflict!.version!.sha
      const settled = { ...edit, settled: { against, theirs: [] } }
      yield* it.edits.publish([settled], "decided")
      assert.deepInclude(yield* document(it.other, "notes", "x"), { n: 8, title: "mine" })
      yield* it.edits.publish([settled], "decided")
      assert.deepInclude(yield* document(it.other, "notes", "x"), { n: 8, title: "mine" })
    })
  )
})

describe("publishing again a document that was created", () => {
  it.live("asks nobody where others have gone on", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1 }, { id: "a" })
      const edit: StagedEdit = { collection: "notes", id: "new", base: null, text: print({ title: "mine" }) }
      yield* it.edits.publish([edit], "first")
      yield* it.other.collection("notes").update("new", { text: "theirs" })
      const { edits } = yield* it.edits.publish([edit], "again")
      assert.strictEqual(edits[0]!.state, "none")
    })
  )
})

describe("a decision about an edit that was written once already", () => {
  it.live("is written", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ title: "A" }, { id: "x" })
      const edit = yield* it.begin("x", print({ title: "mine" }))
      // Its reply is lost, and somebody has another opinion.
      yield* it.edits.publish([edit], "first")
      yield* it.other.collection("notes").update("x", { title: "theirs" })
      const { conflict } = (yield* it.edits.review([edit])).edits[0]!
      const decided = { ...edit, settled: { against: conflict!.version!.sha, theirs: [] } }
      const { commit, edits } = yield* it.edits.publish([decided], "mine all the same")
      assert.strictEqual(edits[0]!.state, "merge")
      assert.isNotNull(commit)
      assert.strictEqual((yield* document(it.other, "notes", "x"))!["title"], "mine")
    })
  )
})

describe("a draft that deletes a document which was broken since", () => {
  it.live("is one to decide about, and no deletion that the commit would be refused for", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1 }, { id: "a" })
      yield* it.notes.insert({ n: 1 }, { id: "b" })
      const edits = [yield* it.begin("a", null), yield* it.begin("b", print({ n: 2 }))]
      yield* byHand(it.remote, file("notes/a.json", "{ broken"))
      const review = yield* it.edits.review(edits)
      assert.include(["conflict", "invalid"], review.edits[0]!.state)
      assert.isUndefined(review.problem)
    })
  )
})

describe("an edit whose base is no longer in the history of its branch", () => {
  it.live("is written although an older version has been like it", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 2, title: "t" }, { id: "x" })
      const old = Option.getOrThrow(yield* it.remote.head("main"))
      yield* it.notes.update("x", { n: 1 })
      const edit = yield* it.begin("x", print({ n: 2, title: "t" }))
      // Somebody has set the branch back, and has done the same in another commit.
      const tree = Option.getOrThrow(yield* it.remote.commitInfo(old.commit)).tree
      it.repository.merge(tree, [old.commit])
      yield* it.other.collection("notes").update("x", { n: 1, title: "theirs" })
      const { edits } = yield* it.edits.publish([edit], "back to two")
      assert.strictEqual(edits[0]!.state, "merge")
      assert.deepInclude(yield* document(it.other, "notes", "x"), { n: 2, title: "theirs" })
    })
  )
})
