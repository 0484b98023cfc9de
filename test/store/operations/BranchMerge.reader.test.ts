import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ValidationError } from "../../../src/domain/StoreError.js"
import { expectFailure, world } from "./Support.js"

describe("a function that decides about the places of a conflict", () => {
  for (const [what, decide] of [
    ["throws", () => () => { throw new Error("no idea") }], // biome-ignore format: one line
    ["says what is no side", () => () => "mine" as never]
  ] as const) {
    it.live(`and ${what} is named in the error, and no merge rule`, () =>
      Effect.gen(function* () {
        const it = yield* world()
        yield* it.store.collection("notes").insert({ n: 1 }, { id: "x" })
        yield* it.store.createBranch("draft")
        yield* it.store.collection("notes").update("x", { n: 2 })
        yield* it.store.onBranch("draft").collection("notes").update("x", { n: 3 })
        const error = yield* expectFailure<ValidationError>(
          it.store.merge("draft", { onConflict: decide }),
          "ValidationError"
        )
        assert.include(error.message, "onConflict")
      })
    )
  }
})
