import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream } from "effect"
import type { Reply } from "../../../support/github/InProcess.js"
import { replying } from "../../../support/github/InProcess.js"
import { fresh } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/Virtual.js"

const world = Effect.gen(function* () {
  const { flight, remote, server } = yield* virtual({ useGraphql: true, maxRetries: 0 })
  const content = new TextEncoder().encode("1")
  server.commit("main", [{ _tag: "Put", path: "a.json", content }])
  const oid = server.id("main:a.json")
  const head = Option.getOrThrow(yield* remote.head("main"))
  const rest = Effect.asVoid(remote.fileAtBranch("main", "a.json", { fresh: true }))
  const graphql = Stream.runDrain(remote.blobs(head, [{ path: "a.json", oid }]))
  /** One kind of request is refused so, then the other is sent: what that waits. */
  const after = (reply: Reply, first: typeof rest, second: typeof rest) =>
    Effect.gen(function* () {
      const from = server.seen.length
      server.fault = (_, index) => (index === from ? replying(reply) : undefined)
      const refused = yield* settle(flight, first)
      assert.propertyVal(Option.getOrThrow(Either.getLeft(refused.result)), "_tag", "RateLimitError")
      const { result, took } = yield* settle(flight, second)
      assert.isTrue(Either.isRight(result), String(Option.getOrNull(Either.getLeft(result))))
      return took
    })
  return { after, graphql, rest }
})

const usedUp = (resource: string): Reply => ({
  status: 403,
  body: { message: "API rate limit exceeded" },
  headers: {
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 3_000),
    "x-ratelimit-resource": resource
  }
})

const tooMuch: Reply = { status: 429, body: { message: "slow down" }, headers: { "retry-after": "30" } }

describe("a limit that one request meets", () => {
  it.scoped("holds back REST and GraphQL alike where it is a secondary one", () =>
    Effect.gen(function* () {
      const one = yield* world
      assert.strictEqual(yield* one.after(tooMuch, one.rest, one.graphql), 30_000)
      const other = yield* world
      assert.strictEqual(yield* other.after(tooMuch, other.graphql, other.rest), 30_000)
    })
  )

  it.scoped("holds back its own resource alone where a quota is used up", () =>
    Effect.gen(function* () {
      const one = yield* world
      assert.strictEqual(yield* one.after(usedUp("core"), one.rest, one.graphql), 0)
      const other = yield* world
      assert.strictEqual(yield* other.after(usedUp("graphql"), other.graphql, other.rest), 0)
    })
  )
})

describe("a hundred requests at once, which GitHub bears", () => {
  it.scopedLive("are never reached, and what is interrupted gives its place back", () =>
    Effect.gen(function* () {
      const { remote, server } = yield* fresh()
      const content = new TextEncoder().encode("1")
      server.commit("main", [{ _tag: "Put", path: "a.json", content }])
      let most = 0
      let late = 50
      server.arrives = () => {
        most = Math.max(most, server.pending())
        return new Promise((done) => setTimeout(done, late))
      }
      const read = Effect.asVoid(remote.fileAtBranch("main", "a.json"))
      const readers = (count: number) =>
        Effect.all(
          Array.from({ length: count }, () => read),
          { concurrency: "unbounded" }
        )
      yield* readers(130)
      assert.isAtLeast(most, 50)
      assert.isAtMost(most, 90)
      late = 600
      for (const patience of [5, 60, 100]) {
        assert.isTrue(Option.isNone(yield* Effect.timeoutOption(readers(130), patience)))
      }
      late = 1
      yield* readers(130)
    })
  )
})
