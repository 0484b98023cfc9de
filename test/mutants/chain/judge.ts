import { load, type Mutant } from "./Mutant.js"

/** The runs of every law against a mutant. */
export const parameters = { seed: 23, numRuns: 6, endOnFailure: true } as const

/** The published laws that a mutant breaks. */
export const judge = async (mutant: Pick<Mutant, "edits" | "name">): Promise<ReadonlyArray<string>> => {
  const { ChainArbitrary, ChainLaws } = await load(mutant)
  const broken: Array<string> = []
  for (const [name, law] of Object.entries(ChainLaws.all)) {
    await ChainLaws.check(law, ChainArbitrary.builder, ChainArbitrary.request, parameters).catch(() => {
      broken.push(name)
    })
  }
  return broken
}
