import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import * as RateLimits from "../../../src/http/host/access/RateLimits.js"
import { HostError } from "../../../src/http/host/reply/HostError.js"
import { layer as host } from "../../support/host/HostServer.js"
import * as Rest from "../../support/host/Rest.js"

const principal = { id: "one", login: "one", grants: [] }
const read: RateLimits.RequestCharge = { principal, resource: "core", writes: false, endpoint: "/" }
const write: RateLimits.RequestCharge = { ...read, writes: true }

const outcome = (charge: RateLimits.RequestCharge) =>
  Effect.gen(function* () {
    const limits = yield* RateLimits.RateLimits
    const exit = yield* Effect.exit(limits.enforce(charge, Effect.succeed("answered")))
    return Exit.isSuccess(exit)
      ? "answered"
      : exit.cause._tag === "Fail" && exit.cause.error instanceof HostError
        ? exit.cause.error.message.slice(0, 41)
        : "?"
  })

const primary = "API rate limit exceeded for user ID one."
const secondary = "You have exceeded a secondary rate limit."

describe("limits", () => {
  it.effect("the primary budget is spent, reported and reset by the clock", () =>
    Effect.gen(function* () {
      const limits = yield* RateLimits.RateLimits
      assert.deepStrictEqual(
        [yield* outcome(read), yield* outcome(read), yield* outcome(read)],
        ["answered", "answered", primary]
      )
      const spent = yield* limits.window(principal, "core")
      assert.deepStrictEqual([spent.remaining, spent.used, spent.reset], [0, 2, 3600])
      yield* limits.refund(read)
      assert.strictEqual(yield* outcome(read), "answered")
      assert.strictEqual(yield* outcome({ ...read, resource: "graphql" }), "answered")
      yield* TestClock.adjust("59 minutes")
      assert.strictEqual(yield* outcome(read), primary)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* outcome(read), "answered")
    }).pipe(Effect.provide(RateLimits.layer({ core: 2 })))
  )

  it.effect("writes weigh five points, and content has limits of its own", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        [yield* outcome(write), yield* outcome(write), yield* outcome(write)],
        ["answered", "answered", secondary]
      )
      assert.strictEqual(yield* outcome({ ...write, endpoint: "/other" }), "answered")
      assert.strictEqual(yield* outcome({ ...write, endpoint: "/third" }), secondary)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* outcome(write), "answered")
    }).pipe(Effect.provide(RateLimits.layer({ pointsPerMinute: 12, contentPerMinute: 3 })))
  )

  it.effect("only so many run at once, however they end", () =>
    Effect.gen(function* () {
      const limits = yield* RateLimits.RateLimits
      const gate = yield* Deferred.make<void>()
      const running = yield* Effect.fork(limits.enforce(read, Deferred.await(gate)))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* outcome(read), secondary)
      yield* Fiber.interrupt(running)
      assert.strictEqual(yield* outcome(read), "answered")
    }).pipe(Effect.provide(RateLimits.layer({ concurrency: 1 })))
  )
})

const clock = { now: 1_000_000_000_000 }

layer(
  host({
    limits: {
      core: 4,
      graphql: 1,
      anonymous: 1,
      retryAfter: 7,
      contentPerMinute: 1,
      clock: Effect.sync(() => clock.now)
    }
  }),
  { timeout: 60_000 }
)("limits over the wire", (it) => {
  it.effect("are in headers and refusals; 304 is free for tokens; the chosen clock resets them", () =>
    Effect.gen(function* () {
      const first = yield* Rest.get("/user")
      assert.deepStrictEqual(
        ["limit", "remaining", "used", "reset"].map((name) => first.headers.get(`x-ratelimit-${name}`)),
        ["4", "3", "1", String(1_000_000_000 + 3600)]
      )
      const same = yield* Rest.get("/user", { headers: { "if-none-match": first.headers.get("etag")! } })
      assert.deepStrictEqual([same.status, same.headers.get("x-ratelimit-used")], [304, "1"])
      const told = (yield* Rest.get("/rate_limit")).body.resources.core
      assert.deepStrictEqual([told.limit, told.used], [4, 1])
      const made = yield* Rest.request("POST", "/user/repos", { body: { name: "x" } })
      assert.strictEqual(made.status, 201)
      const secondary = yield* Rest.request("POST", "/user/repos", { body: { name: "y" } })
      assert.deepStrictEqual([secondary.status, secondary.headers.get("retry-after")], [403, "7"])
      assert.match(secondary.body.message, /secondary rate limit/)
      assert.notStrictEqual(secondary.headers.get("x-ratelimit-remaining"), "0")
      yield* Rest.get("/user")
      const spent = yield* Rest.get("/user")
      assert.deepStrictEqual([spent.status, spent.headers.get("x-ratelimit-remaining")], [403, "0"])
      assert.match(spent.body.message, /^API rate limit exceeded/)
      yield* Rest.graphql("{ viewer { login } }")
      const graphql = yield* Rest.request("POST", "/api/graphql", { body: { query: "{ viewer { login } }" } })
      assert.deepStrictEqual([graphql.status, graphql.body.errors[0].type], [200, "RATE_LIMITED"])
      assert.strictEqual(graphql.headers.get("x-ratelimit-resource"), "graphql")
      yield* Rest.get("/meta", { token: null })
      assert.strictEqual((yield* Rest.get("/meta", { token: null })).status, 403)
      clock.now += 3_600_000
      assert.strictEqual((yield* Rest.get("/user")).status, 200)
    })
  )
})
