import { bundled, type Mutant } from "../bundled.js"
import { childJudge } from "../ChildJudge.js"
import { checksOf, type Mutated } from "./checks.js"

const cache = "./src/store/Cache.js"
const cacheLaws = "./src/testing/store/CacheLaws.js"
const memory = "./src/store/remote/memory/Memory.js"
const remoteLaws = "./src/testing/remote/RemoteLaws.js"
const storeLaws = "./src/testing/store/StoreLaws.js"

/** The first three published laws that a mutant breaks. */
export const judge = childJudge(
  "store",
  "src",
  `import * as Cache from "${cache}"
import * as CacheLaws from "${cacheLaws}"
import * as Memory from "${memory}"
import * as RemoteLaws from "${remoteLaws}"
import * as StoreLaws from "${storeLaws}"
import { reportChecks } from "./test/mutants/LawCheck.js"
import { checksOf } from "./test/mutants/store/checks.js"
await reportChecks(checksOf({ Cache, CacheLaws, Memory, RemoteLaws, StoreLaws }), 3)`
)

const load = (mutant: Pick<Mutant, "edits" | "name">): Promise<Mutated> =>
  bundled(
    mutant,
    "src",
    `export * as Cache from "${cache}"
export * as CacheLaws from "${cacheLaws}"
export * as Memory from "${memory}"
export * as RemoteLaws from "${remoteLaws}"
export * as StoreLaws from "${storeLaws}"`
  )

/** The message of a law's counterexample, or "holds". */
export const breaks = async (mutant: Pick<Mutant, "edits" | "name">, law: string): Promise<string> => {
  const found = checksOf(await load(mutant)).find(({ name }) => name === law)
  if (found === undefined) throw new Error(`No law is called ${law}`)
  return found.check().then(
    () => "holds",
    (error: Error) => error.message
  )
}
