import { describe, it } from "@effect/vitest"
import * as StoreArbitrary from "../../src/testing/program/StoreArbitrary.js"
import { githubHolds, hostHolds } from "../support/gitHubPrograms.js"
import { merging } from "../support/storePrograms.js"

const programs = StoreArbitrary.program({ writers: 2, steps: 5, faults: true })

describe("answers of random programs are explained by the order of the commits, through GitHub's API", () => {
  it("over REST, with faults", () => githubHolds({}, programs, 3), 60_000)

  it(
    "over GraphQL, with faults",
    () => githubHolds({ useGraphql: true, commitVia: "graphql" }, programs, 3),
    60_000
  )

  it("on our own host over REST, with faults", () => hostHolds({}, programs, 3), 60_000)

  it(
    "on our own host over GraphQL, with faults",
    () => hostHolds({ useGraphql: true, commitVia: "graphql" }, programs, 3),
    60_000
  )

  it("on our own host by push, with faults", () => hostHolds({ commitVia: "push" }, programs, 2), 60_000)

  const both = merging(programs)
  const graphql = { useGraphql: true, commitVia: "graphql" } as const
  for (const [way, options] of [
    ["over REST", {}],
    ["over GraphQL", graphql],
    ["by push", { commitVia: "push" }]
  ] as const) {
    it(
      `with merges and proposals, on our own host ${way}, with faults`,
      () => hostHolds(options, both, 2),
      60_000
    )
  }
})
