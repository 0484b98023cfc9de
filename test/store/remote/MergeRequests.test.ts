import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onGitHub, overWire } from "./MergeRequests.js"

describe("the requests of a merge", () => {
  it.scopedLive(
    "are proportional to what both changed on GitHub, not to what is there",
    () =>
      Effect.gen(function* () {
        const few = yield* onGitHub({}, 20, 4)
        const many = yield* onGitHub({}, 300, 4)
        assert.strictEqual(many.length, few.length, many.join("\n"))
        const more = yield* onGitHub({}, 300, 40)
        // Three versions of each document that both changed.
        assert.isAtMost(more.length - many.length, 3 * 18, more.join("\n"))
        assert.isAtMost(few.length, 20, few.join("\n"))
        const bulk = yield* onGitHub({ useGraphql: true, graphqlBatchSize: 100 }, 300, 40)
        assert.isAtMost(bulk.length, 15, bulk.join("\n"))
      }),
    60_000
  )

  it.scopedLive(
    "are at most six over Git's own protocol",
    () =>
      Effect.map(overWire(300, 40), (asked) => {
        assert.isAtMost(asked.length, 6, asked.join("\n"))
      }),
    60_000
  )
})
