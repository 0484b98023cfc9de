import { assert, it } from "@effect/vitest"
import type { Mutant } from "./bundled.js"

/** Tests that some law catches each fault, but for those of which it is explained why not, and none where there is no fault. */
export const everyFaultIsCaught = (
  mutants: ReadonlyArray<Mutant>,
  judge: (mutant: Pick<Mutant, "edits" | "name">) => Promise<ReadonlyArray<string>>,
  explained: Readonly<Record<string, string>>
) => {
  it("the laws catch nothing in a bundle without a fault", async () => {
    assert.deepStrictEqual(await judge({ name: "no fault", edits: [] }), [])
  })

  it.each(mutants.map((one) => [one.name, one] as const))("the laws catch: %s", async (name, mutant) => {
    const laws = await judge(mutant)
    console.log(`| ${name} | ${laws.join(", ") || explained[name]} |`)
    assert.strictEqual(laws.length > 0, explained[name] === undefined, mutant.breaks)
  })
}
