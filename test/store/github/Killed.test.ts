import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { killTransactionsOnHost } from "../operations/support/kills.js"

it.scopedLive(
  "a client that is killed inside transactions leaves each of them whole or not at all, and what it left is removable",
  () =>
    Effect.map(killTransactionsOnHost(2), ({ acknowledged, looks }) => {
      assert.isAbove(acknowledged, 0)
      assert.isAbove(looks, 2)
    }),
  60_000
)
