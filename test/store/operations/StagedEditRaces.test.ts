import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import type { JsonObject } from "../../../src/domain/json/Json.js"
import type { StagedEdit } from "../../../src/store/browse/index.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { document, editing, storePair } from "./StorePair.js"

const print = (value: JsonObject) => JSON.stringify(value)

const open = (options: StoreOptions = {}) =>
  Effect.gen(function* () {
    const it = yield* storePair(options)
    const notes = it.store.collection("notes")
    return { ...it, ...(yield* editing(it, "notes")), notes }
  })

describe("a document to be edited", () => {
  // StagedEdits.ts, EditableDocument.text: "with its numbers as the file has them"; docs/console.md: "A number is shown with the digits of its file".
  for (const number of ["1e400", "1e-400", "99999999999999999999999", "-1E+999", "0.30000000000000001"]) {
    it.live(`shows ${number} with the digits of its file`, () =>
      Effect.gen(function* () {
        const it = yield* open()
        yield* it.notes.insert({ n: 0 }, { id: "a" })
        yield* foreignCommit(
          it.remote,
          file("notes/x.json", `{"_id": "x", "_rev": 1, "n": ${number}, "title": "t"}`)
        )
        const [found] = yield* it.edits.documents("notes", ["x"])
        const { text } = Option.getOrThrow(found!)
        assert.include(text, number)
        assert.include(text, "title")
      })
    )
  }
})

describe("publishing again", () => {
  // docs/console.md: "Publishing again is safe: an edit that its document already has is not written again, so a reply that was lost costs nothing."
  it.live("counts nothing twice where somebody has changed another field meanwhile", () =>
    Effect.gen(function* () {
      const it = yield* open({ merge: { notes: { n: "counter" } } })
      yield* it.notes.insert({ n: 1, title: "t" }, { id: "x" })
      const edit = yield* it.begin("x", print({ n: 2, title: "t" }))
      // Its reply is lost.
      yield* it.edits.publish([edit], "one more")
      yield* it.other.collection("notes").update("x", { title: "theirs" })
      yield* it.edits.publish([edit], "one more")
      const { n, title } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ n, title }, { n: 2, title: "theirs" })
    })
  )
})

describe("publishing after somebody has taken the edit back", () => {
  it.live("writes nothing again", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ title: "A", text: "one" }, { id: "a" })
      const edit = yield* it.begin("a", print({ title: "mine", text: "one" }))
      // Its reply is lost.
      yield* it.edits.publish([edit], "first")
      yield* it.other.collection("notes").update("a", { title: "A" })
      const { commit } = yield* it.edits.publish([edit], "again")
      assert.isNull(commit)
      assert.strictEqual((yield* document(it.other, "notes", "a"))!["title"], "A")
    })
  )
})

describe("an edit of a document that was broken and mended since", () => {
  it.live("is merged with what it is now", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1, title: "t" }, { id: "x" })
      const edit = yield* it.begin("x", print({ n: 2, title: "t" }))
      yield* foreignCommit(it.remote, file("notes/x.json", "{ broken"))
      yield* foreignCommit(it.remote, file("notes/x.json", { _id: "x", _rev: 2, n: 1, title: "theirs" }))
      const { edits } = yield* it.edits.publish([edit], "m")
      assert.strictEqual(edits[0]?.state, "merge", edits[0]?.problem)
      const { n, title } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ n, title }, { n: 2, title: "theirs" })
    })
  )
})

describe("an edit that puts back an older value", () => {
  // StagedEdits.ts, publish: what is not in the document yet is written, also where it was there before the edit began.
  it.live("is written although the document has been so before", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 2, title: "t" }, { id: "x" })
      yield* it.notes.update("x", { n: 1 })
      // The edit's base is the head of the branch, which did not write the document.
      yield* it.notes.insert({ n: 0 }, { id: "other" })
      const edit = yield* it.begin("x", print({ n: 2, title: "t" }))
      yield* it.other.collection("notes").update("x", { title: "theirs" })
      yield* it.edits.publish([edit], "back to two")
      const { n, title } = (yield* document(it.other, "notes", "x"))!
      assert.deepStrictEqual({ n, title }, { n: 2, title: "theirs" })
    })
  )
})

describe("a review", () => {
  // StagedEdits.ts, ReviewedEdit: each edit has a state; one document that others broke hides the review of all others.
  it.live("reports every edit if a stored document has been damaged since", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1 }, { id: "a" })
      yield* it.notes.insert({ n: 1 }, { id: "b" })
      const edits = [yield* it.begin("a", print({ n: 2 })), yield* it.begin("b", print({ n: 2 }))]
      yield* foreignCommit(it.remote, file("notes/b.json", "{ broken"))
      const exit = yield* Effect.exit(it.edits.review(edits))
      assert.isTrue(Exit.isSuccess(exit), String(exit))
      if (Exit.isSuccess(exit)) assert.strictEqual(exit.value.edits[0]?.state, "change")
    })
  )

  // The same: a number that JavaScript cannot hold, which others stored in the document since.
  it.live("reports every edit if a stored document has a number that cannot be written again", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1 }, { id: "a" })
      yield* it.notes.insert({ n: 1 }, { id: "b" })
      const edits = [yield* it.begin("a", print({ n: 2 })), yield* it.begin("b", print({ n: 2 }))]
      yield* foreignCommit(
        it.remote,
        file("notes/b.json", '{"_id": "b", "_rev": 2, "n": 1, "big": 12345678901234567891}')
      )
      const exit = yield* Effect.exit(it.edits.review(edits))
      assert.isTrue(Exit.isSuccess(exit), String(exit))
    })
  )

  // Versions.ts, unreadable: "mend the file in a commit, or replace or delete the document"; console.md: an edit with `text: null` deletes.
  it.live("lets a document that nobody can read be deleted", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ n: 1 }, { id: "a" })
      yield* foreignCommit(it.remote, file("notes/x.json", "{ broken"))
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const { oid } = Option.getOrThrow(yield* it.remote.file(head, "data/notes/x.json"))
      const edit: StagedEdit = {
        collection: "notes",
        id: "x",
        base: { sha: oid, commit: head.commit },
        text: null
      }
      const { edits } = yield* it.edits.review([edit])
      assert.strictEqual(edits[0]?.state, "delete")
      yield* it.edits.publish([edit], "gone")
      assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["a"])
    })
  )
})

describe("an edited text", () => {
  const published = (text: string) =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ a: 0 }, { id: "x" })
      const edit = yield* it.begin("x", text)
      const { edits } = yield* it.edits.publish([edit], "m")
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const { content } = Option.getOrThrow(yield* it.remote.file(head, "data/notes/x.json"))
      return { state: edits[0]!.state, text: new TextDecoder().decode(content) }
    })

  // StagedEdits.ts, StagedEdit.text: "The JSON text of the document as it is to be": another character is written for half of a pair.
  it.live("with half of a surrogate pair is written as it is, or refused", () =>
    Effect.gen(function* () {
      const { state, text } = yield* published('{"a": "\ud800"}')
      assert.isTrue(state === "invalid" || text.includes("\\ud800"), `${state}: ${text}`)
    })
  )
})

describe("edits together", () => {
  const unique = { indexes: { notes: [{ fields: ["code"], unique: true }] } } as const

  // StagedEdits.ts, EditReview.problem: "Why the commit would be refused, such as two documents with one value of a unique index": also of an edit that is merged.
  it.live(
    "that are merged to a value that another document has are a problem of the review, not its failure",
    () =>
      Effect.gen(function* () {
        const it = yield* open(unique)
        yield* it.notes.insert({ code: "a" }, { id: "a" })
        yield* it.notes.insert({ code: "c", title: "t" }, { id: "c" })
        const edit = yield* it.begin("c", print({ code: "a", title: "t" }))
        yield* it.other.collection("notes").update("c", { title: "theirs" })
        const exit = yield* Effect.exit(it.edits.review([edit]))
        assert.isTrue(Exit.isSuccess(exit), String(exit))
        if (Exit.isSuccess(exit)) assert.isDefined(exit.value.problem)
      })
  )

  // StagedEdits.ts, publish: "Writes all edits in one commit, merged with what others have changed since their bases": the commit as a whole has the value once.
  it.live("may take a value that another of them gives up, though somebody changed another field since", () =>
    Effect.gen(function* () {
      const it = yield* open(unique)
      yield* it.notes.insert({ code: "a" }, { id: "a" })
      yield* it.notes.insert({ code: "c", title: "t" }, { id: "c" })
      const edits = [yield* it.begin("a", null), yield* it.begin("c", print({ code: "a", title: "t" }))]
      yield* it.other.collection("notes").update("c", { title: "theirs" })
      const exit = yield* Effect.exit(it.edits.publish(edits, "m"))
      assert.isTrue(Exit.isSuccess(exit) && exit.value.commit !== null, String(exit))
    })
  )
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

describe("an edit that says the same as a published one", () => {
  it.live("is written where it is another draft, and somebody has taken the first one back", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ title: "A", text: "one" }, { id: "x" })
      const edit = { ...(yield* it.begin("x", print({ title: "mine", text: "one" }))), stamp: "first" }
      const old = Option.getOrThrow(yield* it.remote.head("main"))
      yield* it.edits.publish([edit], "first")
      // As `git revert` does it: the very file is there again.
      it.repository.merge(old.tree, [Option.getOrThrow(yield* it.remote.head("main")).commit])
      yield* it.other.collection("notes").update("x", { text: "two" })
      const again = { ...edit, stamp: "second" }
      assert.strictEqual((yield* it.edits.publish([again], "again")).edits[0]!.state, "merge")
      assert.deepInclude(yield* document(it.other, "notes", "x"), { title: "mine", text: "two" })
      assert.strictEqual((yield* it.edits.publish([again], "again")).edits[0]!.state, "none")
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

describe("a decision about an edit that was published once already", () => {
  it.live("is another edit", () =>
    Effect.gen(function* () {
      const it = yield* open()
      yield* it.notes.insert({ title: "A" }, { id: "x" })
      const edit = yield* it.begin("x", print({ title: "mine" }))
      // Its reply is lost, and somebody has another opinion.
      yield* it.edits.publish([edit], "first")
      yield* it.other.collection("notes").update("x", { title: "theirs" })
      assert.strictEqual((yield* it.edits.review([edit])).edits[0]!.state, "none")
      const { sha: against } = Option.getOrThrow(yield* it.notes.version("x"))
      const decided = { ...edit, settled: { against, theirs: [] } }
      const { edits } = yield* it.edits.publish([decided], "mine all the same")
      assert.strictEqual(edits[0]!.state, "merge")
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
      yield* foreignCommit(it.remote, file("notes/a.json", "{ broken"))
      const review = yield* it.edits.review(edits)
      assert.include(["conflict", "invalid"], review.edits[0]!.state)
      assert.isUndefined(review.problem)
    })
  )
})

describe("an edit with a base that is not in the branch's history", () => {
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
