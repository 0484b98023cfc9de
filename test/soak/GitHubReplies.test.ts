import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cells as pushCells, runPushes } from "../support/github/PushMatrix.js"
import { cells, runAlone, runInSequence, sample } from "../support/github/ReplyMatrix.js"
import { layer as host } from "../support/host/HostServer.js"

const hours = 3_600_000

const seed = process.env["CHAINSTORE_SEED"] ?? String(Date.now())

describe("writes with lost, doubled or refused replies, or with outdated replicas", () => {
  for (const carrier of new Set(cells.map((cell) => cell.carrier))) {
    it.scoped(
      `every operation with every pair of faults: ${carrier}`,
      () =>
        Effect.gen(function* () {
          const wrong = yield* runAlone(cells.filter((cell) => cell.carrier === carrier))
          assert.deepStrictEqual(wrong, [])
        }),
      2 * hours
    )
  }

  it.live(
    "every operation with every pair of faults: by push",
    () =>
      Effect.gen(function* () {
        const wrong = yield* Effect.provide(runPushes(pushCells), host())
        assert.deepStrictEqual(wrong, [])
      }),
    2 * hours
  )

  it.scoped(
    "10,000 operations one after the other, with pairs of faults",
    () =>
      Effect.gen(function* () {
        // Each cell is an operation with faults, after one without.
        const wrong = yield* Effect.flatMap(sample(seed, 5_000), runInSequence)
        assert.deepStrictEqual(wrong, [], `CHAINSTORE_SEED=${seed}`)
      }),
    2 * hours
  )
})
