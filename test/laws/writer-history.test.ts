import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { GitRemote } from "../../src/store/remote/GitRemote.js"
import * as Memory from "../../src/store/remote/memory/Memory.js"
import * as Store from "../../src/store/Store.js"
import { checkHistory } from "../../src/testing/history/HistoryCheck.js"
import { readHistory } from "../../src/testing/history/HistoryReader.js"
import type { Edit } from "../../src/testing/program/StoreProgram.js"

const put = (id: string): Edit => ({ _tag: "put", collection: "plain", id, fields: { n: 1 } })

/** What is said of an interrupted writer that wrote `a` and was told to write `edits`. */
const problemsOf = (edits: ReadonlyArray<Edit>, isLastUnsure: boolean) =>
  Effect.gen(function* () {
    yield* (yield* Store.Store).writer({ message: "w0" }, (writer) => writer.put("plain", "a", { n: 1 }))
    const history = yield* readHistory(yield* GitRemote, "main", "data")
    const operation = { _tag: "writer", edits, isLastUnsure, maxOperations: 3 } as const
    const to = history.at(-1)!.info.commit
    const event = { token: "w0", operation, outcome: { _tag: "unknown" }, from: undefined, to } as const
    return checkHistory([event], history, { indexes: {}, manifests: {} })
  }).pipe(Effect.provide(Layer.provideMerge(Store.layer(), Memory.layer())), Effect.scoped)

describe("the commits of an interrupted writer", () => {
  it.effect("may miss the edit that was being queued", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf([put("a"), put("b")], true), [])
    })
  )

  it.effect("miss no other edit", () =>
    Effect.gen(function* () {
      const problems = ["w0 writer (unknown): its commit 0 is not what was queued"]
      assert.deepStrictEqual(yield* problemsOf([put("a"), put("b")], false), problems)
      assert.deepStrictEqual(yield* problemsOf([put("a"), put("b"), put("c")], true), problems)
    })
  )
})
