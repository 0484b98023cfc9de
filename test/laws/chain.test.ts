import { describe, it } from "@effect/vitest"
import { ChainArbitrary, ChainLaws } from "chainstore/testing"
import { FastCheck } from "effect"

describe("laws of chains", () => {
  for (const [name, law] of Object.entries(ChainLaws.all)) {
    it(name, () =>
      ChainLaws.check(law, ChainArbitrary.builder, ChainArbitrary.request, {
        numRuns: 10_000,
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
