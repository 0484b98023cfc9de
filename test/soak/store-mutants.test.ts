import { assert, it } from "@effect/vitest"
import { Memory } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { judge, mutants } from "../mutants/store/index.js"

/** The faults that no law catches, with the reason. */
const explained: Readonly<Record<string, string>> = {
  "history begins at the oldest":
    "a history without merges has one candidate at a time, and the sides of a merge have no order where their commits are of one second"
}

it("the laws catch nothing in a bundle without a fault", async () => {
  assert.deepStrictEqual(await judge({ name: "no fault", edits: [] }), [])
})

it.each(mutants.map((one) => [one.name, one] as const))("the laws catch: %s", async (name, mutant) => {
  const laws = await judge(mutant)
  console.log(`| ${name} | ${laws.join(", ") || explained[name]} |`)
  assert.strictEqual(laws.length > 0, explained[name] === undefined, mutant.breaks)
})

it.each(Object.values(StoreLaws.all))("a sharded store without a cache keeps: $name", (law) => {
  const repository = new Memory.MemoryRepository()
  const options = { shardBy: "hash", shardDepth: 2, cache: false } as const
  return StoreLaws.check(law, { remote: Memory.make({ repository }), options })
})

/** Each run is a store's life, so that 10,000 of them take minutes for a law. */
const runs = 10_000

it.each(Object.values(StoreLaws.all).filter(({ draws }) => draws))(
  "10,000 runs raise no false alarm: $name",
  async (law) => {
    // A repository that has grown for long would be slow, and says no more than a new one.
    for (let done = 0; done < runs; done += 250) {
      const repository = new Memory.MemoryRepository()
      await StoreLaws.check(
        law,
        { remote: Memory.make({ repository }) },
        { numRuns: 250, endOnFailure: true }
      )
    }
  }
)
