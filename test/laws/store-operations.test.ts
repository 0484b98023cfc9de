import { afterAll, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { CheckOptions, ProgramHarness } from "../../src/testing/history/RandomProgram.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import {
  changedIndexes,
  changingIndexes,
  localHarness,
  memoryHarness,
  merging,
  programIndexes,
  removeLocal,
  runChecked
} from "../support/storePrograms.js"

const holds = (
  name: string,
  shape: StoreArbitrary.ProgramShape,
  numRuns: number,
  harness: () => ProgramHarness<unknown>,
  fields?: CheckOptions,
  programs = StoreArbitrary.program(shape)
) =>
  it(
    name,
    () =>
      FastCheck.assert(
        FastCheck.asyncProperty(programs, (program) => runChecked(program, harness(), fields)),
        { numRuns, interruptAfterTimeLimit: 20_000 }
      ),
    60_000
  )

afterAll(removeLocal)

describe("answers of random programs are explained by the order of the commits", () => {
  holds("one writer, in memory", { writers: 1, steps: 14, faults: false }, 40, memoryHarness)

  holds("four writers on two stores, in memory", { writers: 4, steps: 8, faults: false }, 25, memoryHarness)

  holds("the same with trees as indexes and manifest", { writers: 4, steps: 8, faults: false }, 15, () =>
    memoryHarness({}, { format: 2 })
  )

  holds(
    "the same with compound and partial indexes, and a unique one",
    { writers: 4, steps: 8, faults: false },
    20,
    () => memoryHarness({}, { format: 2, ...programIndexes }),
    programIndexes
  )

  holds(
    "three writers with faults and interruption between any two steps, in memory",
    { writers: 3, steps: 8, faults: true },
    60,
    memoryHarness
  )

  holds("the same in a sharded store without a cache", { writers: 3, steps: 8, faults: true }, 15, () =>
    memoryHarness({}, { shardBy: "hash", shardDepth: 1, cache: false })
  )

  holds("the same with trees as indexes and manifest", { writers: 3, steps: 8, faults: true }, 15, () =>
    memoryHarness({}, { format: 2, shardBy: "hash", shardDepth: 1 })
  )

  holds(
    "the same with compound and partial indexes, and a unique one",
    { writers: 3, steps: 8, faults: true },
    15,
    () => memoryHarness({}, { format: 2, ...programIndexes }),
    programIndexes
  )

  holds(
    "three writers with faults on a repository on this disk",
    { writers: 3, steps: 6, faults: true },
    5,
    localHarness
  )

  holds("the same with trees as indexes and manifest", { writers: 3, steps: 6, faults: true }, 5, () =>
    localHarness({ format: 2 })
  )

  for (const format of [1, 2] as const) {
    const { fields, store } = changingIndexes(format)
    const indexes = changedIndexes(format)
    holds(
      `indexes are created and dropped among others, in memory, format ${format}`,
      { writers: 4, steps: 8, faults: true, indexes },
      20,
      () => memoryHarness({}, store),
      fields
    )
    holds(
      `indexes are created and dropped among others, on a repository on this disk, format ${format}`,
      { writers: 3, steps: 6, faults: true, indexes },
      4,
      () => localHarness(store),
      fields
    )
  }

  const shape = { writers: 3, steps: 6, faults: true }
  for (const [where, numRuns, harness] of [
    ["in memory", 15, memoryHarness],
    ["on a repository on this disk", 4, localHarness]
  ] as const) {
    for (const format of [1, 2] as const) {
      holds(
        `merges and proposals among others, ${where}, format ${format}`,
        shape,
        numRuns,
        () => (harness === memoryHarness ? memoryHarness({}, { format }) : localHarness({ format })),
        undefined,
        merging(StoreArbitrary.program(shape))
      )
    }
  }
})
