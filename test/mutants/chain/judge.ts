import { bundled, type Mutant } from "../bundled.js"
import { childJudge } from "../ChildJudge.js"
import type { Mutated } from "./checks.js"

const arbitrary = "./src/testing/chain/ChainArbitrary.js"
const laws = "./src/testing/chain/ChainLaws.js"

/** Every published law that a mutant breaks. */
export const judge = childJudge(
  "chain",
  "src/chain",
  `import * as ChainArbitrary from "${arbitrary}"
import * as ChainLaws from "${laws}"
import { checksOf } from "./test/mutants/chain/checks.js"
import { reportChecks } from "./test/mutants/LawCheck.js"
await reportChecks(checksOf({ ChainArbitrary, ChainLaws }), Number.POSITIVE_INFINITY)`
)

/** The published laws and generators of chains, bundled with a mutated `src/chain`. */
export const load = (mutant: Pick<Mutant, "edits" | "name">): Promise<Mutated> =>
  bundled(
    mutant,
    "src/chain",
    `export * as ChainArbitrary from "${arbitrary}"
export * as ChainLaws from "${laws}"`
  )
