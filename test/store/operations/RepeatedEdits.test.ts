import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { StagedEdit } from "../../../src/store/browse/index.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as Store from "../../../src/store/Store.js"
import { document, editing, storePair } from "./StorePair.js"

// StagedEdits.ts, EditState: "`none` where the document is already as it says"; `stamp` may be left out.
describe("an edit that says the same as an earlier one", () => {
  it.live("creates a document again that was deleted meanwhile by an edit", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      yield* it.store.collection("notes").insert({ n: 0 }, { id: "other" })
      const { begin, edits } = yield* editing(it, "notes")
      const create: StagedEdit = { collection: "notes", id: "x", base: null, text: '{"n": 1}' }
      yield* edits.publish([create], "create")
      yield* edits.publish([yield* begin("x", null)], "delete")
      assert.isNull(yield* document(it.other, "notes", "x"))
      const again = yield* edits.publish([create], "create again")
      assert.strictEqual(again.edits[0]!.state, "create", "the document is not there, and nothing is written")
      assert.isNotNull(yield* document(it.other, "notes", "x"))
    })
  )

  it.live("is written in another root of the same repository", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const store = yield* Effect.provideService(Store.make({ root: "more" }), GitRemote, it.remote)
      const create: StagedEdit = { collection: "notes", id: "x", base: null, text: '{"n": 1}' }
      const { edits } = yield* editing(it, "notes")
      yield* edits.publish([create], "in one root")
      const more = yield* editing({ remote: it.remote, store }, "notes")
      const { edits: reviewed } = yield* more.edits.publish([create], "in the other")
      assert.strictEqual(reviewed[0]!.state, "create", "the document is not there, and nothing is written")
      assert.isNotNull(yield* document(store, "notes", "x"))
    })
  )
})
