import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { worldsOnGitHub } from "../../../support/github/World.js"
import { messages } from "../../operations/Support.js"

const ways = [{}, { useGraphql: true, commitVia: "graphql" }] as const

describe.each(ways)("a writer through GitHub's API, with %j", (options) => {
  const make = worldsOnGitHub(options)

  it.live("writes when so many wait, when the time has come, and at the end", () =>
    Effect.gen(function* () {
      const it = yield* make({ indexes: { notes: ["n"] }, manifests: ["notes"] })
      const { commits, result } = yield* it.store.writer({ maxOperations: 3, maxSeconds: 0.05 }, (writer) =>
        Effect.gen(function* () {
          yield* Effect.forEach([0, 1, 2, 3], (n) => writer.put("notes", `n${n}`, { n }))
          yield* Effect.repeat(Effect.zipRight(Effect.sleep(5), writer.pending), {
            until: (waiting) => waiting === 0
          })
          assert.deepStrictEqual(yield* it.other.collection("notes").list(), ["n0", "n1", "n2", "n3"])
          yield* writer.delete("notes", "n0")
          return yield* writer.insert("notes", { n: 1 })
        })
      )
      assert.deepStrictEqual(yield* messages(it), [
        "writer: 3 operations",
        "writer: 1 operations",
        "writer: 2 operations"
      ])
      const head = Option.getOrThrow(yield* it.remote.head("main"))
      assert.strictEqual(commits.at(-1), head.commit)
      const found = yield* it.other.collection("notes").findBy("n", 1)
      assert.deepStrictEqual(
        found.map(({ _id }) => _id),
        [result, "n1"].sort()
      )
    })
  )
})
