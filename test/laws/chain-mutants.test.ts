import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { ChainArbitrary, ChainLaws } from "chainstore/testing"
import { misplaced } from "../mutants/bundled.js"
import { load, type Mutant, mutants, parameters } from "../mutants/chain/index.js"

const text = (path: string) =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
    .replace(/\n +\* ?/g, " ")
    .replace(/\s+/g, " ")

const page = text("docs/chain.md")
const docstrings = ["Chain", "Logging", "Policy", "Trace"].map((name) => text(`src/chain/${name}.ts`))

/** A fault of every family, and the law that has to catch it. */
const sample: Readonly<Record<string, keyof typeof ChainLaws.all>> = {
  "use changes the builder": "immutability",
  "a selective handler loses its object": "runsOnce",
  "a second next skips a step": "nextRunsAgain",
  "a throwing condition refuses": "badConditions",
  "executeSync wraps the failure": "synchronousEntries",
  "handledBy is the outermost step": "innermostAnswers",
  "refusing takes a frame of the stack": "stackSafety",
  "a warning loses its path": "warnings",
  "a trace loses the branches of a path": "traces",
  "interruption is logged as a failure": "logs",
  "the span names no chain": "spans",
  "a merged chain provides to later steps": "provides",
  "a policy with next retries the step alone": "policies",
  "middleware around a chain drops the fallback": "middlewareAround",
  "layer needs the chain first": "argumentOrder",
  "executions share the step that handled": "executionsApart"
}

const named = (name: string): Mutant => {
  const found = mutants.find((mutant) => mutant.name === name)
  if (found === undefined) throw new Error(`No mutant is called ${name}`)
  return found
}

describe("faults of chains", () => {
  it("break sentences of the documentation, and so do the laws hold them", () => {
    const documented = [page, ...docstrings]
    assert.deepStrictEqual(
      mutants.map(({ breaks }) => breaks).filter((breaks) => !documented.some((it) => it.includes(breaks))),
      []
    )
    assert.deepStrictEqual(
      Object.values(ChainLaws.promises).filter(({ sentence }) => !page.includes(sentence)),
      []
    )
    assert.sameMembers(Object.keys(ChainLaws.promises), Object.keys(ChainLaws.all))
    assert.strictEqual(new Set(mutants.map(({ name }) => name)).size, mutants.length)
    assert.deepStrictEqual(misplaced(mutants, "src/chain"), [])
  })

  it.each(Object.entries(sample))("%s: %s catches it", async (name, law) => {
    const mutated = await load(named(name))
    const error = await mutated.ChainLaws.check(
      mutated.ChainLaws.all[law],
      mutated.ChainArbitrary.builder,
      mutated.ChainArbitrary.request,
      parameters
    ).then(
      () => undefined,
      (failed: Error) => failed
    )
    assert.include(error?.message ?? "holds", `ChainLaws.${law} does not hold.`)
    assert.include(error?.message ?? "", ChainLaws.promises[law].sentence)
  })
})

it("the laws hold for our own chains within the budget of a user's suite", async () => {
  await ChainLaws.checkAll(ChainArbitrary.builder, ChainArbitrary.request, { seed: 23 })
})
