import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { cells as pushCells, runPushes } from "../../support/github/PushMatrix.js"
import { cells, runAlone } from "../../support/github/ReplyMatrix.js"
import { everyNth } from "../../support/vitest/caseSelection.js"
import { thisHost } from "../core/Remotes.js"

const operations = ["merge", "accept"] as const

describe.each(operations)("a lost reply in the middle of %s", (operation) => {
  // All of them, the other carriers and every pair of faults are in soak.
  for (const carrier of ["REST Contents", "GraphQL with an index"] as const) {
    it.scoped(
      `loses nothing and does nothing twice: ${carrier}`,
      () =>
        Effect.gen(function* () {
          const chosen = cells.filter(
            (cell) =>
              cell.operation === operation &&
              cell.carrier === carrier &&
              [0, 5].includes(cell.stale) &&
              (cell.second === "none" || (cell.first === "lost after" && cell.second === "lost after"))
          )
          assert.deepStrictEqual(yield* runAlone(everyNth(3, chosen)), [])
        }),
      120_000
    )
  }

  it.live(
    "loses nothing and does nothing twice: by push",
    () =>
      Effect.gen(function* () {
        const chosen = pushCells.filter(
          (cell) =>
            cell.operation === operation &&
            cell.indexed &&
            cell.first !== "refused" &&
            cell.second === (cell.stale ? "none" : "lost after")
        )
        assert.deepStrictEqual(yield* Effect.provide(runPushes(everyNth(3, chosen)), thisHost), [])
      }),
    120_000
  )
})
