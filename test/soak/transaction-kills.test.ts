import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { killTransactions, killTransactionsOnHost } from "../store/operations/support/kills.js"

const places = [
  ["sixty kills in a repository of this machine", killTransactions(60), 10],
  ["twenty kills of a client by REST", killTransactionsOnHost(20), 3],
  ["twenty kills of a client by GraphQL", killTransactionsOnHost(20, { graphql: true }), 3]
] as const

for (const [name, kills, least] of places) {
  it.scopedLive(`${name} leave each transaction whole or not at all`, () =>
    Effect.map(kills, ({ acknowledged, left, looks }) => {
      assert.isAbove(left, least)
      console.log(
        `${acknowledged} acknowledged transactions, none lost; ${left} work branches left and removed; ${looks} looks at the branch`
      )
    })
  )
}
