import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { killTransactions } from "./support/kills.js"

it.scopedLive(
  "a process that is killed inside transactions leaves each of them whole or not at all, and what it left is removable",
  () =>
    Effect.map(killTransactions(2), ({ acknowledged, left, looks }) => {
      assert.isAbove(acknowledged, 0)
      assert.isAbove(looks, 2)
      assert.isAbove(left, 0, "no kill met a transaction")
    }),
  60_000
)
