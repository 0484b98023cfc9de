import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Measured, measure, print, rows } from "../../../support/github/RequestTable.js"

const measured: Array<Measured> = []

describe("requests per operation, counted at the socket", () => {
  for (const row of rows) {
    it.live(row.operation, () =>
      Effect.gen(function* () {
        const found = yield* measure(row)
        measured.push(found)
        assert.deepStrictEqual(found.problems, [])
        assert.isAtMost(found.rest, row.owed?.rest ?? row.rest, found.verbs.slice(0, 20).join("\n"))
        for (const [way, { count, verbs }] of (found.first ?? []).entries()) {
          assert.isAtMost(count, row.first?.[way] ?? 0, verbs.slice(0, 20).join("\n"))
        }
        if (row.graphql !== undefined && found.graphql !== undefined) {
          assert.isAtMost(
            found.graphql,
            row.owed?.graphql ?? row.graphql,
            found.graphqlVerbs.slice(0, 20).join("\n")
          )
        }
      })
    )
  }

  it("prints the table", () => {
    console.log(print(measured))
    assert.strictEqual(measured.length, rows.length)
  })
})
