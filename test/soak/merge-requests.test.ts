import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onGitHub, overWire } from "../store/remote/MergeRequests.js"

/** Each side has changed a hundred documents, half of them both. */
const changed = 100

const [rest, graphql, wire] = [160, 12, 6]

describe("the requests of a merge of 10,000 documents", () => {
  it("are as many as the page says", () => {
    const page = readFileSync(fileURLToPath(new URL("../../docs/branches.md", import.meta.url)), "utf8")
    assert.include(
      page.replace(/\s+/g, " "),
      `takes ${rest} requests over REST, ${graphql} over GraphQL and ${wire} over Git's own protocol`
    )
  })

  for (const [way, options, most] of [
    ["REST", {}, rest],
    ["GraphQL", { useGraphql: true, graphqlBatchSize: 100 }, graphql]
  ] as const) {
    it.scopedLive(
      `are at most ${most} over ${way}, proportional to what both changed`,
      () =>
        Effect.gen(function* () {
          const all = yield* onGitHub(options, 10_000, changed)
          console.log(`${way}: ${all.length} requests`)
          assert.isAtMost(all.length, most, all.join("\n"))
          const few = yield* onGitHub(options, 300, changed)
          assert.strictEqual(all.length, few.length, all.join("\n"))
          const half = yield* onGitHub(options, 10_000, changed / 2)
          // What does not depend on the documents takes 20 requests at most.
          assert.isAtMost(half.length, all.length / 2 + 20, half.join("\n"))
        }),
      300_000
    )
  }

  it.scopedLive(
    `are at most ${wire} over Git's own protocol`,
    () =>
      Effect.gen(function* () {
        const asked = yield* overWire(10_000, changed)
        console.log(`Git's own protocol: ${asked.length} requests`)
        assert.isAtMost(asked.length, wire, asked.join("\n"))
      }),
    300_000
  )
})
