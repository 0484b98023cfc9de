import { describe, it } from "@effect/vitest"
import { ChainArbitrary, ChainLaws } from "chainstore/testing"
import { FastCheck } from "effect"

/** The laws whose single run is short enough for 2,000 of them here; the soak tier gives all of them 10,000. */
const short = [
  "firstMatchWins",
  "order",
  "fallbackPrecedence",
  "branchFallThrough",
  "mergeIsInlining",
  "count",
  "immutability",
  "unhandled",
  "middlewareOrder",
  "laziness",
  "agreement",
  "interruptionReleases"
] as const

describe("laws of chains", () => {
  for (const name of short) {
    it(name, () =>
      ChainLaws.check(ChainLaws.all[name], ChainArbitrary.builder, ChainArbitrary.request, {
        numRuns: 2_000,
        endOnFailure: true
      })
    )
  }

  it("are refuted by a chain that answers equal requests differently", async () => {
    let calls = 0
    const fickle = ChainArbitrary.toBuilder({ steps: [], fallback: undefined }).use(() => `${calls++}`)
    const verdict = await ChainLaws.check(ChainLaws.laziness, fickle, FastCheck.constant(1), {
      numRuns: 1
    }).then(() => "holds", String)
    if (!verdict.includes("laziness")) throw new Error(verdict)
  })
})
