import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { matrix, sample } from "../../support/github/ReplyMatrix.js"

describe("a write whose replies are lost, come twice or come from a machine behind the others", () => {
  it.scoped(
    "is done once, not done, or said to be uncertain, and the history agrees",
    () =>
      Effect.gen(function* () {
        const check = yield* matrix
        const seed = process.env["CHAINSTORE_SEED"] ?? "replies"
        const wrong: Array<string> = []
        for (const cell of yield* sample(seed, Number(process.env["CHAINSTORE_CELLS"] ?? 60))) {
          const problem = yield* check(cell)
          if (problem !== undefined) wrong.push(problem)
        }
        assert.deepStrictEqual(wrong, [], `seed ${seed}`)
      }),
    120_000
  )
})
