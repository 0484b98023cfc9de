import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import { settle, virtual } from "../../support/github/Virtual.js"

const content = new TextEncoder().encode("{}")

const messages: ReadonlyArray<readonly [given: string, sent: RegExp]> = [
  ["one line", /^one line\n\nChainstore-Write: [0-9a-f]{16}$/],
  ["a line: like a trailer", /^a line: like a trailer\n\nChainstore-Write: [0-9a-f]{16}$/],
  ["one\n\nand a body: with words", /^one\n\nand a body: with words\n\nChainstore-Write: [0-9a-f]{16}$/],
  [
    "one\n\nbody\n\nSigned-off-by: Ada <ada@x.org>\nRefs: 1,\n  2",
    /^one\n\nbody\n\nSigned-off-by: Ada <ada@x.org>\nRefs: 1,\n {2}2\nChainstore-Write: [0-9a-f]{16}$/
  ]
]

describe.each([
  ["the Contents API", {}],
  ["Git Data", {}],
  ["GraphQL", { useGraphql: true, commitVia: "graphql" }]
] as const)("the mark of a commit by %s", (way, options) => {
  it.scoped("is one trailer, which the history leaves out", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(options)
      server.host.commit("main", [{ _tag: "Put", path: "a.json", content }], "base")
      for (const [index, [message, sent]] of messages.entries()) {
        const path = `b${index}.json`
        const { result } = yield* settle(
          flight,
          Effect.gen(function* () {
            const head = yield* remote.head("main")
            if (way === "the Contents API") {
              const single = Option.getOrThrow(remote.singleFile)
              yield* single.put("main", path, content, Option.none(), { message })
            } else {
              yield* remote.commit("main", head, { message, changes: [{ _tag: "Put", path, content }] })
            }
            const made = Option.getOrThrow(yield* remote.head("main"))
            const log = yield* Stream.runHead(remote.log(made, "", { limit: 1 }))
            const info = yield* remote.commitInfo(made.commit)
            return [Option.getOrThrow(log).message, Option.getOrThrow(info).message]
          })
        )
        assert.deepStrictEqual(Either.getOrThrow(result), [message, message])
        const stored = server.host.branch("main", true)?.message ?? ""
        assert.match(stored, sent)
        const trailers = execFileSync("git", ["interpret-trailers", "--parse"], {
          input: stored,
          encoding: "utf8"
        })
        assert.match(trailers, /^Chainstore-Write: [0-9a-f]{16}$/m)
      }
      assert.deepStrictEqual(server.problems, [])
    })
  )
})
