import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { Browse } from "../../../src/store/browse/index.js"
import { file, foreignCommit } from "../core/ForeignCommit.js"
import { headSha, storePair } from "./StorePair.js"

describe("the preview of a revert", () => {
  for (const [name, content] of [
    ["is broken JSON", "{ broken"],
    ["holds a list", "[1]"],
    ["is empty", ""]
  ] as const) {
    it.live(`ends with a result or a typed error if the restored file ${name}`, () =>
      Effect.gen(function* () {
        const it = yield* storePair()
        yield* it.store.collection("notes").insert({ n: 0 }, { id: "a" })
        yield* foreignCommit(it.remote, file("notes/x.json", content))
        yield* foreignCommit(it.remote, file("notes/x.json", { _id: "x", _rev: 1, n: 1 }))
        const timeline = yield* Effect.flatMap(
          Browse.make({ store: it.store, remote: it.remote, readOnly: false }),
          ({ timeline }) => timeline
        )
        const exit = yield* Effect.exit(timeline.previewRevert(yield* headSha(it)))
        assert.isFalse(Exit.isFailure(exit) && exit.cause._tag === "Die", String(exit))
      })
    )
  }
})
