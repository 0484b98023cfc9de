import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Cell, runAlone, runInSequence, sample } from "../../../support/github/ReplyMatrix.js"

const seed = process.env["CHAINSTORE_SEED"] ?? "replies"

describe("a write with lost or doubled replies, or with outdated replicas", () => {
  for (const [how, run, count] of [
    ["alone", runAlone, Number(process.env["CHAINSTORE_CELLS"] ?? 12)],
    ["one after the other", runInSequence, Number(process.env["CHAINSTORE_CELLS"] ?? 12)]
  ] as const) {
    it.scoped(
      `is done once, not done, or said to be uncertain, and the history agrees: ${how}`,
      () =>
        Effect.gen(function* () {
          const wrong = yield* Effect.flatMap(sample(seed, count), run)
          assert.deepStrictEqual(wrong, [], `CHAINSTORE_SEED=${seed}`)
        }),
      120_000
    )
  }

  it.scoped("makes its work branch, also where a proxy delivers the creation twice", () =>
    Effect.gen(function* () {
      const twice = { operation: "transaction", first: "twice", second: "none", at: 0, stale: 0 } as const
      const cells: ReadonlyArray<Cell> = [
        { ...twice, carrier: "REST Contents" },
        { ...twice, carrier: "GraphQL" }
      ]
      assert.deepStrictEqual(yield* runAlone(cells), [])
    })
  )
})
