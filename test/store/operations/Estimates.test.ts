import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { expectFailure, storePair } from "./StorePair.js"

describe("an estimate of a planned collection", () => {
  it.live("refuses more documents and indexes than there can be, and ends for all others", () =>
    Effect.gen(function* () {
      const it = yield* storePair()
      const notes = it.store.collection("notes")
      yield* notes.insert({ n: 0 }, { id: "a" })
      for (const planned of [{ documents: Number.MAX_VALUE, indexes: 1 }, { indexes: 2 ** 32 }]) {
        yield* expectFailure(notes.estimate(planned), "ValidationError")
      }
      const { current } = yield* notes.estimate({ documents: Number.MAX_SAFE_INTEGER, indexes: 1000 })
      assert.isAbove(current.insert.bytes, 0)
    })
  )
})
