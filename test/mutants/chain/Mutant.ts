import { bundled, type Mutant } from "../bundled.js"

export { type Mutant, mutant } from "../bundled.js"

/** The published laws and generators of chains, bundled with a mutated `src/chain`. */
export const load = (
  one: Pick<Mutant, "edits" | "name">
): Promise<typeof import("../../../src/testing/index.js")> =>
  bundled(
    one,
    "src/chain",
    `export * as ChainArbitrary from "./src/testing/chain/ChainArbitrary.js"
export * as ChainLaws from "./src/testing/chain/ChainLaws.js"`
  )
