import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { killTransactions } from "../store/operations/support/kills.js"

it.scopedLive("sixty kills inside transactions leave each of them whole or not at all", () =>
  Effect.map(killTransactions(60), ({ acknowledged, left, looks }) => {
    assert.isAbove(left, 10)
    console.log(
      `${acknowledged} acknowledged transactions, none lost; ${left} work branches left and removed; ${looks} looks at the branch`
    )
  })
)
