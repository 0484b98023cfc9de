import { describe, it } from "@effect/vitest"
import type { StoreOptions } from "chainstore/store"
import { StoreLaws } from "chainstore/testing"
import { Effect } from "effect"
import type * as GitHub from "../../src/store/remote/github/GitHub.js"
import * as GitHost from "../../src/store/remote/wire/GitHost.js"
import { hostServer } from "../store/core/Remotes.js"
import * as HttpBackend from "../support/git/HttpBackend.js"
import { newRepository, scopedClientOf } from "../support/github/OnHost.js"
import { HostServer } from "../support/host/HostServer.js"
import { isWhole } from "../support/vitest/caseSelection.js"

/** With an index a write changes several files, so that it cannot be one request of the Contents API. */
const indexed: StoreOptions = { indexes: { people: ["n"] } }

const graphql = { useGraphql: true, commitVia: "graphql" } as const

const carriers: ReadonlyArray<readonly [string, Omit<GitHub.GitHubOptions, "repo">, StoreOptions]> = [
  ["the Contents API", {}, {}],
  ["Git Data", {}, indexed],
  ["createCommitOnBranch", graphql, {}],
  ["a push", { commitVia: "push" }, {}],
  // Carriers that send several files as they send one.
  ...(isWhole
    ? ([
        ["createCommitOnBranch, with an index", graphql, indexed],
        ["a push, with an index", { commitVia: "push" }, indexed]
      ] as const)
    : [])
]

// Memory and a repository on disk: store-operations-laws.test.ts.
describe("a changed document is retried conflictRetries times, with commits by", () => {
  for (const [carrier, client, options] of carriers) {
    it.scopedLive(`${carrier} on our own host`, () =>
      Effect.gen(function* () {
        const repository = yield* Effect.provideServiceEffect(newRepository, HostServer, hostServer)
        const subject = { remote: scopedClientOf(repository, client), options }
        yield* Effect.promise(() => StoreLaws.check(StoreLaws.all.conflictRetries, subject, { numRuns: 1 }))
      })
    )
  }

  it.scopedLive("a push to a Git server", () =>
    Effect.flatMap(HttpBackend.make, (backend) => {
      const subject = { remote: GitHost.scoped({ url: backend.create("laws.git") }) }
      return Effect.promise(() => StoreLaws.check(StoreLaws.all.conflictRetries, subject, { numRuns: 1 }))
    })
  )
})
