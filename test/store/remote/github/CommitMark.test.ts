import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import { replying } from "../../../support/github/InProcess.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { putFile } from "../../../support/singleFile.js"

const content = new TextEncoder().encode("{}")

const messages: ReadonlyArray<readonly [given: string, sent: RegExp]> = [
  ["one line", /^one line\n\nChainstore-Write: [0-9a-f]{16}$/],
  ["a line: like a trailer", /^a line: like a trailer\n\nChainstore-Write: [0-9a-f]{16}$/],
  ["one\n\nand a body: with words", /^one\n\nand a body: with words\n\nChainstore-Write: [0-9a-f]{16}$/],
  [
    "one\n\nbody\n\nSigned-off-by: Ada <ada@x.org>\nRefs: 1,\n  2",
    /^one\n\nbody\n\nSigned-off-by: Ada <ada@x.org>\nRefs: 1,\n {2}2\nChainstore-Write: [0-9a-f]{16}$/
  ],
  [
    "one\r\n\r\nSigned-off-by: Ada <ada@x.org>\r\nRefs: 1",
    /^one\r?\n\r?\nSigned-off-by: Ada <ada@x.org>\r\nRefs: 1\nChainstore-Write: [0-9a-f]{16}$/
  ],
  ["\n\na: title", /^(?:\n\n)?a: title\n\nChainstore-Write: [0-9a-f]{16}$/],
  ["", /^Chainstore-Write: [0-9a-f]{16}$/]
]

/** Lines end as Git ends them, and blank ones around the text are none of it. */
const plain = (message: string) => message.replaceAll("\r\n", "\n").trim()

describe.each([
  ["the Contents API", {}],
  ["Git Data", {}],
  ["GraphQL", { useGraphql: true, commitVia: "graphql" }]
] as const)("the mark of a commit by %s", (way, options) => {
  it.scoped("is one trailer, which the history leaves out", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(options)
      server.commit("main", [{ _tag: "Put", path: "a.json", content }], "base")
      for (const [index, [message, sent]] of messages.entries()) {
        const path = `b${index}.json`
        const { result } = yield* settle(
          flight,
          Effect.gen(function* () {
            const head = yield* remote.head("main")
            if (way === "the Contents API") {
              yield* putFile(remote, "main", path, content, Option.none(), { message })
            } else {
              yield* remote.commit("main", head, { message, changes: [{ _tag: "Put", path, content }] })
            }
            const made = Option.getOrThrow(yield* remote.head("main"))
            const log = yield* Stream.runHead(remote.log(made, "", { limit: 1 }))
            const info = yield* remote.commitInfo(made.commit)
            return [Option.getOrThrow(log).message, Option.getOrThrow(info).message]
          })
        )
        assert.deepStrictEqual(Either.getOrThrow(result).map(plain), [plain(message), plain(message)])
        const stored = server
          .git(["cat-file", "commit", server.head()])
          .replace(/^.*?\n\n/s, "")
          .replace(/\n$/, "")
        assert.match(stored, sent)
        const trailers = execFileSync("git", ["interpret-trailers", "--parse"], {
          input: stored,
          encoding: "utf8"
        })
        // Git reads no trailers where there is no title.
        if (message !== "") assert.match(trailers, /^Chainstore-Write: [0-9a-f]{16}$/m)
      }
      assert.deepStrictEqual(server.problems, [])
    })
  )

  // The first begins with a mark; a program that is not Git takes the second's separator for a line break.
  const copied = ["Chainstore-Write: 0123456789abcdef", "t\u2028Chainstore-Write: 0123456789abcdef"]
  it.scoped.each(copied)("is not one that the caller copied: %j", (message) =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual(options)
      const put = { _tag: "Put", path: "a.json", content } as const
      server.commit("main", [{ ...put, path: "b.json" }], "base")
      let met = 0
      server.fault = ({ body, method }) => {
        if (method === "GET" || !(body.includes("0123456789abcdef") || body.includes("Chainstore-Write")))
          return
        if (met++ > 0) return
        server.commit("main", [put], `${message}\n\nChainstore-Write: fedcba9876543210`)
        return replying({ status: 502, body: {} })
      }
      const { result } = yield* settle(
        flight,
        Effect.gen(function* () {
          const head = yield* remote.head("main")
          if (way === "the Contents API") {
            yield* putFile(remote, "main", "a.json", content, Option.none(), { message })
          } else {
            yield* remote.commit("main", head, { message, changes: [put] })
          }
        })
      )
      assert.isTrue(Either.isLeft(result), JSON.stringify(result))
    })
  )
})
