import { describe, it } from "@effect/vitest"
import * as StoreArbitrary from "../../src/testing/StoreArbitrary.js"
import { githubHolds } from "../support/gitHubPrograms.js"

describe("answers of random programs are explained by the order of the commits, through GitHub's API", () => {
  it(
    "over REST, with faults",
    () => githubHolds({}, StoreArbitrary.program({ writers: 2, steps: 5, faults: true }), 6),
    60_000
  )

  it(
    "over GraphQL, with faults",
    () =>
      githubHolds(
        { useGraphql: true, commitVia: "graphql" },
        StoreArbitrary.program({ writers: 2, steps: 5, faults: true }),
        6
      ),
    60_000
  )
})
