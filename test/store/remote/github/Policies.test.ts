import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, TestClock } from "effect"
import { limitHeaders, retryAfter } from "../../../../src/store/remote/github/client/LimitHeaders.js"
import { makeRateLimiter, paceOf } from "../../../../src/store/remote/github/client/RateLimiter.js"
import { classify } from "../../../../src/store/remote/github/client/ReplyClassification.js"

const settings = {
  maxRetries: 3,
  backoffFactor: Duration.millis(500),
  maxWait: Duration.seconds(60),
  paceRequests: true,
  contentLimits: true,
  writeLane: { perMinute: 80, perHour: 500, pointsPerMinute: 900 }
}

describe("limits", () => {
  const headers = (remaining: number, toReset: number) => ({
    "x-ratelimit-limit": "5000",
    "x-ratelimit-remaining": `${remaining}`,
    "x-ratelimit-reset": `${toReset}`,
    "x-ratelimit-resource": "core"
  })
  const weight = (creates: boolean) => ({ endpoint: creates ? "put" : "get", resource: "core", creates })

  /** The virtual moments at which so many requests may go. */
  const moments = (
    count: number,
    creates: boolean,
    remaining: number,
    options: Partial<typeof settings> = {}
  ) =>
    Effect.gen(function* () {
      const limits = yield* makeRateLimiter({ ...settings, maxWait: Duration.hours(2), ...options })
      yield* limits.observe(headers(remaining, 3600))
      const at: Array<number> = []
      const fiber = yield* Effect.fork(
        Effect.forEach(
          Array.from({ length: count }),
          () =>
            Effect.zipRight(
              limits.through(weight(creates))(Effect.void),
              Effect.map(Clock.currentTimeMillis, (now) => at.push(now))
            ),
          { concurrency: "unbounded", discard: true }
        )
      )
      yield* TestClock.adjust("3 hours")
      yield* Fiber.join(fiber)
      return at
    })

  it.effect("the write lane keeps to 80 a minute and 500 an hour", () =>
    Effect.gen(function* () {
      const at = yield* moments(600, true, 5000)
      for (const moment of at) {
        assert.isAtMost(at.filter((other) => other > moment - 60_000 && other <= moment).length, 80)
        assert.isAtMost(at.filter((other) => other > moment - 3_600_000 && other <= moment).length, 500)
      }
      assert.strictEqual(at[79], 0)
      assert.strictEqual(at[80], 60_000)
      assert.isAtLeast(at[500]!, 3_600_000)
    })
  )

  it.effect("so many points a minute for each endpoint", () =>
    Effect.gen(function* () {
      const lane = { perMinute: 80, perHour: 500, pointsPerMinute: 90 }
      const at = yield* moments(100, false, 5000, { writeLane: lane })
      assert.strictEqual(at[89], 0)
      assert.strictEqual(at[90], 60_000)
      const free = yield* moments(100, false, 5000, {
        writeLane: { ...lane, pointsPerMinute: Number.POSITIVE_INFINITY }
      })
      assert.strictEqual(new Set(free).size, 1)
    })
  )

  it.effect("more than twice as many points a minute for GraphQL, all its requests together", () =>
    Effect.gen(function* () {
      const lane = { perMinute: 80, perHour: 500, pointsPerMinute: 90 }
      const limits = yield* makeRateLimiter({ ...settings, maxWait: Duration.hours(2), writeLane: lane })
      yield* limits.observe({ ...headers(5000, 3600), "x-ratelimit-resource": "graphql" })
      const at: Array<number> = []
      const ask = limits.through({ endpoint: "graphql", resource: "graphql", creates: false })(Effect.void)
      const fiber = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 201 }), () =>
          Effect.zipRight(
            ask,
            Effect.map(Clock.currentTimeMillis, (now) => at.push(now))
          )
        )
      )
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([at[199], at[200]], [0, 60_000])
    })
  )

  it.effect("paces once use is a tenth of the limit ahead of the clock, and not before", () =>
    Effect.gen(function* () {
      assert.strictEqual(paceOf({ limit: 5000, remaining: 4500 }, 3_600_000), 0)
      assert.isAbove(paceOf({ limit: 5000, remaining: 4499 }, 3_600_000), 0)
      assert.strictEqual(paceOf({ limit: 5000, remaining: 2001 }, 1_800_000), 0)
      assert.strictEqual(paceOf({ limit: 5000, remaining: 1000 }, 1_800_000), 1800)
      const at = yield* moments(10, false, 3600, { writeLane: { ...settings.writeLane } })
      const gaps = at.slice(1).map((moment, index) => moment - at[index]!)
      for (const gap of gaps) assert.isAtLeast(gap, 999)
      const unpaced = yield* moments(10, false, 3600, { paceRequests: false })
      assert.strictEqual(new Set(unpaced).size, 1)
    })
  )

  it.effect("a used-up quota is waited for up to maxWait, and is an error beyond", () =>
    Effect.gen(function* () {
      const limits = yield* makeRateLimiter(settings)
      yield* limits.observe(headers(0, 61))
      const refused = yield* Effect.flip(limits.through(weight(false))(Effect.void))
      assert.strictEqual(refused.kind, "PrimaryLimit")
      assert.strictEqual(refused.retryAfter, 61_000)
      yield* TestClock.adjust("2 seconds")
      const fiber = yield* Effect.fork(limits.through(weight(false))(Effect.void))
      yield* TestClock.adjust("59 seconds")
      yield* Fiber.join(fiber)
    })
  )

  it.effect("a host that announces no limit is not paced", () =>
    Effect.gen(function* () {
      const limits = yield* makeRateLimiter({ ...settings, contentLimits: false })
      yield* Effect.forEach(Array.from({ length: 2000 }), () => limits.through(weight(true))(Effect.void), {
        discard: true
      })
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    })
  )

  it("advice is read as seconds or as a date, by the host's own clock", () => {
    const date = "Sat, 21 Nov 2026 04:00:00 GMT"
    assert.strictEqual(retryAfter({ "retry-after": "7" }, 0), 7000)
    assert.strictEqual(retryAfter({ "retry-after": "Sat, 21 Nov 2026 04:00:30 GMT", date }, 0), 30_000)
    assert.strictEqual(retryAfter({ "retry-after": "soon" }, 0), undefined)
    assert.strictEqual(retryAfter({}, 0), undefined)
    assert.strictEqual(limitHeaders({ "x-ratelimit-limit": "60" }, 0), undefined)
    assert.strictEqual(
      limitHeaders({ ...headers(5, Date.parse(date) / 1000 + 90), date }, 0)?.toReset,
      90_000
    )
  })

  it("a 403 for a large file is not a missing permission", () => {
    const body = JSON.stringify({
      message: "This API returns blobs up to 1 MB in size.",
      errors: [{ resource: "Blob", field: "data", code: "too_large" }]
    })
    assert.strictEqual(classify("get", 403, {}, body, 0).kind, "TooLarge")
    assert.strictEqual(classify("get", 403, {}, "not json", 0).kind, "Forbidden")
  })
})
