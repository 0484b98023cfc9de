import { assert, it } from "@effect/vitest"
import { ChainArbitrary, ChainLaws } from "chainstore/testing"
import { judge, mutants } from "../mutants/chain/index.js"

/** The faults that no law catches, with the reason. */
const explained: Readonly<Record<string, string>> = {}

it("the laws catch nothing in a bundle without a fault", async () => {
  assert.deepStrictEqual(await judge({ name: "no fault", edits: [] }), [])
})

it.each(mutants.map((one) => [one.name, one] as const))("the laws catch: %s", async (name, mutant) => {
  const laws = await judge(mutant)
  console.log(`| ${name} | ${laws.join(", ") || explained[name]} |`)
  assert.strictEqual(laws.length > 0, explained[name] === undefined, mutant.breaks)
})

it.each(Object.entries(ChainLaws.all))("10,000 runs raise no false alarm: %s", (_, law) =>
  ChainLaws.check(law, ChainArbitrary.builder, ChainArbitrary.request, {
    numRuns: 10_000,
    endOnFailure: true
  })
)
