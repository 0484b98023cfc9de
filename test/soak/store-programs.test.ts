import { afterAll, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type { CheckOptions, ProgramHarness } from "../../src/testing/history/RandomProgram.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import { githubHolds, hostHolds } from "../support/gitHubPrograms.js"
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
import { wireHolds } from "../support/wirePrograms.js"

afterAll(removeLocal)

/** `CHAINSTORE_SOAK_RUNS` multiplies the runs of each program. */
const times = Number(process.env["CHAINSTORE_SOAK_RUNS"] ?? 1)

const graphql = { useGraphql: true, commitVia: "graphql" } as const

const holds = (
  name: string,
  shape: StoreArbitrary.ProgramShape,
  numRuns: number,
  harness: () => ProgramHarness<unknown>,
  fields?: CheckOptions
) =>
  it(name, () =>
    FastCheck.assert(
      FastCheck.asyncProperty(StoreArbitrary.program(shape), (program) =>
        runChecked(program, harness(), fields)
      ),
      { numRuns: numRuns * times }
    )
  )

describe("long random programs of every operation", () => {
  holds("six writers in memory", { writers: 6, steps: 12, faults: true }, 800, memoryHarness)
  holds("six writers, sharded, without a cache", { writers: 6, steps: 10, faults: true }, 300, () =>
    memoryHarness({}, { shardBy: "hash", shardDepth: 2, cache: false })
  )
  holds("five writers on a bare repository", { writers: 5, steps: 10, faults: true }, 200, localHarness)
  holds(
    "eight writers with compound and partial indexes, and a unique one",
    { writers: 8, steps: 10, faults: true },
    400,
    () => memoryHarness({}, { format: 2, ...programIndexes }),
    programIndexes
  )
  holds(
    "the same on a bare repository",
    { writers: 8, steps: 10, faults: true },
    100,
    () => localHarness({ format: 2, ...programIndexes }),
    programIndexes
  )
  const four = StoreArbitrary.program({ writers: 4, steps: 8, faults: true })
  it("four writers through GitHub's REST API", () => githubHolds({}, four, 40 * times, 900_000))
  it("four writers through GitHub's GraphQL API", () => githubHolds(graphql, four, 40 * times, 900_000))
  it("four writers on our own host over REST", () => hostHolds({}, four, 80 * times, 900_000))
  it("four writers on our own host over GraphQL", () => hostHolds(graphql, four, 80 * times, 900_000))
  it("four writers on our own host by push", () =>
    hostHolds({ commitVia: "push" }, four, 80 * times, 900_000))
})

describe("long random programs that create and drop indexes", () => {
  for (const format of [1, 2] as const) {
    const settings = changingIndexes(format)
    const indexes = changedIndexes(format)
    const shape = { writers: 6, steps: 10, faults: true, indexes }
    const { fields, store } = settings
    holds(`six writers in memory, format ${format}`, shape, 400, () => memoryHarness({}, store), fields)
    holds(`six writers on a bare repository, format ${format}`, shape, 60, () => localHarness(store), fields)
    const four = StoreArbitrary.program({ writers: 4, steps: 8, faults: true, indexes })
    for (const [way, options] of [
      ["over REST", {}],
      ["over GraphQL", graphql],
      ["by push", { commitVia: "push" }]
    ] as const) {
      it(`four writers on our own host ${way}, format ${format}`, () =>
        hostHolds(options, four, 30 * times, 900_000, settings))
    }
    it(`four writers by Git's protocol, with a fault in each tenth request, format ${format}`, () =>
      wireHolds(four, { rate: 0.1, numRuns: 20 * times, timeLimit: 900_000, ...settings }))
  }
})

describe("long random programs with merges and proposals", () => {
  const both = (writers: number) => merging(StoreArbitrary.program({ writers, steps: 8, faults: true }))
  for (const [where, numRuns, harness] of [
    ["in memory", 400, memoryHarness],
    ["on a bare repository", 60, localHarness]
  ] as const) {
    it(`five writers ${where}`, () =>
      FastCheck.assert(
        FastCheck.asyncProperty(both(5), (program) => runChecked(program, harness())),
        { numRuns: numRuns * times }
      ))
  }
  for (const [way, options] of [
    ["over REST", {}],
    ["over GraphQL", graphql],
    ["by push", { commitVia: "push" }]
  ] as const) {
    it(`three writers on our own host ${way}`, () => hostHolds(options, both(3), 30 * times, 900_000))
  }
  it("three writers by Git's protocol, with a fault in each tenth request", () =>
    wireHolds(both(3), { rate: 0.1, numRuns: 30 * times, timeLimit: 900_000 }))
})
