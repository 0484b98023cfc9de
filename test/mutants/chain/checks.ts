import type { ChainArbitrary, ChainLaws } from "../../../src/testing/index.js"
import type { LawCheck } from "../LawCheck.js"

/** The published laws and generators of chains, over a mutated `src/chain`. */
export interface Mutated {
  readonly ChainArbitrary: typeof ChainArbitrary
  readonly ChainLaws: typeof ChainLaws
}

/** The runs of every law against a mutant. */
export const parameters = { seed: 23, numRuns: 6, endOnFailure: true } as const

/** Every law of chains. */
export const checksOf = ({ ChainArbitrary, ChainLaws }: Mutated): ReadonlyArray<LawCheck> =>
  Object.entries(ChainLaws.all).map(([name, law]) => ({
    name,
    check: () => ChainLaws.check(law, ChainArbitrary.builder, ChainArbitrary.request, parameters)
  }))
