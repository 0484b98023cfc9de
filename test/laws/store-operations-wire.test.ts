import { describe, it } from "@effect/vitest"
import { StoreLaws } from "chainstore/testing"
import { Effect } from "effect"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import { hostServer } from "../store/core/Remotes.js"
import * as HttpBackend from "../support/git/HttpBackend.js"
import { newRepository, scopedClientOf } from "../support/github/OnHost.js"
import { HostServer } from "../support/host/HostServer.js"
import { merging } from "../support/storePrograms.js"
import { wireHolds } from "../support/wirePrograms.js"

/** Laws about races, which a remote decides, and about merges; the soak tier holds it against all of them. */
const laws = ["batchRetries", "transactions", "branchMerges", "branchRaces", "proposals"] as const

describe("the laws of a store by Git's protocol", () => {
  for (const name of laws) {
    it.scopedLive(name, () =>
      Effect.flatMap(HttpBackend.make, (backend) => {
        const subject = { remote: GitHost.scoped({ url: backend.create("laws.git") }) }
        return Effect.promise(() => StoreLaws.check(StoreLaws.all[name], subject, { numRuns: 1 }))
      })
    )
  }
})

describe('the laws of a store on our own host, with commitVia: "push"', () => {
  for (const name of laws) {
    it.scopedLive(name, () =>
      Effect.gen(function* () {
        const repository = yield* Effect.provideServiceEffect(newRepository, HostServer, hostServer)
        const subject = { remote: scopedClientOf(repository, { commitVia: "push" }) }
        yield* Effect.promise(() => StoreLaws.check(StoreLaws.all[name], subject, { numRuns: 1 }))
      })
    )
  }
})

const programs = StoreArbitrary.program({ writers: 2, steps: 5, faults: true })

describe("answers of random programs are explained by the order of the commits, by Git's protocol", () => {
  it("with faults on the way", () => wireHolds(programs, { rate: 0.1, numRuns: 2, seed: 20 }), 60_000)

  it(
    "with merges and proposals, with faults on the way",
    () => wireHolds(merging(programs), { rate: 0.1, numRuns: 1, seed: 21 }),
    60_000
  )
})
