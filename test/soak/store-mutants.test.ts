import { it } from "@effect/vitest"
import { Memory } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { everyFaultIsCaught } from "../mutants/catching.js"
import { judge, mutants } from "../mutants/store/index.js"

/** The faults that no law catches, with the reason. */
const explained: Readonly<Record<string, string>> = {}

everyFaultIsCaught(mutants, judge, explained)

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
