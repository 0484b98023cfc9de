import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { verbs } from "../../../support/github/InProcess.js"
import { fresh } from "../../../support/github/Remote.js"

it.scopedLive("a commit that is too large for GraphQL is one by Git Data", () =>
  Effect.gen(function* () {
    const { remote, server } = yield* fresh({ useGraphql: true, commitVia: "graphql" })
    const put = (path: string, size: number) =>
      ({ _tag: "Put", path, content: new Uint8Array(size).fill(120) }) as const
    server.commit("main", [put("first", 1)], "base")
    const small = yield* remote.commit("main", yield* remote.head("main"), {
      message: "small",
      changes: [put("a", 10), put("b", 10)]
    })
    server.seen.length = 0
    const changes = [1, 2, 3].map((n) => put(`large/${n}`, 9_000_000))
    const made = yield* remote.commit("main", Option.some(small), { message: "large", changes })
    assert.deepStrictEqual(verbs(server), [
      "POST /git/blobs",
      "POST /git/blobs",
      "POST /git/blobs",
      "POST /git/trees",
      "POST /git/commits",
      "PATCH /git/refs/heads/main"
    ])
    assert.strictEqual(server.head("main"), made.commit)
    assert.strictEqual(server.id("main^"), small.commit)
  })
)
