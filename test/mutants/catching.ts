import { assert, it } from "@effect/vitest"
import type { Mutant } from "./bundled.js"
import type { Judgement } from "./ChildJudge.js"

/** Tests that the laws catch each mutant except the explained ones, and that they hold without a mutant. */
export const everyFaultIsCaught = (
  mutants: ReadonlyArray<Mutant>,
  judge: (mutant: Pick<Mutant, "edits" | "name">) => Promise<Judgement>,
  explained: Readonly<Record<string, string>>
) => {
  it("the laws catch nothing in a bundle without a fault", async () => {
    assert.deepStrictEqual((await judge({ name: "no fault", edits: [] })).laws, [])
  })

  it.each(mutants.map((one) => [one.name, one] as const))("the laws catch: %s", async (name, mutant) => {
    const { laws, megabytes, seconds } = await judge(mutant)
    console.log(`| ${name} | ${laws.join(", ") || explained[name]} | ${seconds} s, ${megabytes} MB`)
    assert.strictEqual(laws.length > 0, explained[name] === undefined, mutant.breaks)
  })
}
