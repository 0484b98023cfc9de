import { describe, it } from "@effect/vitest"
import { StoreLaws } from "chainstore/testing"
import { Effect } from "effect"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import * as HttpBackend from "../support/git/HttpBackend.js"
import { wireHolds } from "../support/wirePrograms.js"

/** `CHAINSTORE_SOAK_RUNS` multiplies the runs of each program. */
const times = Number(process.env["CHAINSTORE_SOAK_RUNS"] ?? 1)

const four = StoreArbitrary.program({ writers: 4, steps: 8, faults: true })
const timeLimit = 1_800_000

describe("long random programs by Git's protocol", () => {
  it("without faults on the way", () => wireHolds(four, { rate: 0, numRuns: 40 * times, timeLimit }))
  it("with a fault in each tenth request", () =>
    wireHolds(four, { rate: 0.1, numRuns: 80 * times, timeLimit }))
  it("with a fault in each third request, sharded", () =>
    wireHolds(four, {
      rate: 0.3,
      numRuns: 40 * times,
      timeLimit,
      store: { shardBy: "hash", shardDepth: 1 }
    }))
})

for (const [kind, settings] of [
  ["plain", {}],
  ["sharded", { shardBy: "hash", shardDepth: 1 }]
] as const) {
  describe(`the laws of a store by Git's protocol, ${kind}`, () => {
    for (const law of Object.values(StoreLaws.all)) {
      it.live(
        law.name,
        () =>
          Effect.gen(function* () {
            const url = (yield* HttpBackend.make).create("laws.git")
            const subject = { remote: GitHost.scoped({ url }), options: settings }
            yield* Effect.promise(() => StoreLaws.check(law, subject, { numRuns: 1 }))
          }).pipe(Effect.scoped),
        120_000
      )
    }
  })
}
