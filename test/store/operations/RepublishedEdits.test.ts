import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { StagedEdit } from "../../../src/store/browse/index.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { document, editing, storePair } from "./StorePair.js"

// StagedEdits.ts, StagedEdits.publish: "an edit that one of the last 100 commits of its document names, or that the document
// already has, is not written again."
describe("an edit that a commit of its document names is not written again", () => {
  it.live("where somebody has deleted the document that it created", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "other" })
      const { edits } = yield* editing(it, "notes")
      const edit: StagedEdit = { collection: "notes", id: "x", base: null, text: '{"n": 1}', stamp: "1" }
      // Its reply is lost.
      yield* edits.publish([edit], "first")
      yield* it.other.collection("notes").delete("x")
      const { commit } = yield* edits.publish([edit], "again")
      assert.isNull(yield* document(it.other, "notes", "x"), "the deleted document is back")
      assert.isNull(commit)
    })
  )

  it.live("where somebody has put back the file that it changed", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "x" })
      const { begin, edits } = yield* editing(it, "notes")
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      const before = Option.getOrThrow(yield* it.remote.file(head, "data/notes/x.json"))
      const edit = { ...(yield* begin("x", '{"n": 1}')), stamp: "1" }
      yield* edits.publish([edit], "first")
      // As `git revert` and a push do.
      yield* foreignCommit(it.remote, file("notes/x.json", new TextDecoder().decode(before.content)))
      const { commit } = yield* edits.publish([edit], "again")
      assert.strictEqual(
        (yield* document(it.other, "notes", "x"))!["n"],
        0,
        "what was taken back is there again"
      )
      assert.isNull(commit)
    })
  )
})
