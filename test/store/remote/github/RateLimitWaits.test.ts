import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Either, Fiber, FiberId, Option, Stream, TestClock } from "effect"
import { RateLimitError } from "../../../../src/domain/errors/StoreError.js"
import { GitRemote } from "../../../../src/store/remote/GitRemote.js"
import { retryAfter } from "../../../../src/store/remote/github/client/LimitHeaders.js"
import { resolveOptions } from "../../../../src/store/remote/github/client/Options.js"
import { makeRateLimiter } from "../../../../src/store/remote/github/client/RateLimiter.js"
import type { GitHubOptions } from "../../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../../src/store/Store.js"
import { type Reply, replying } from "../../../support/github/InProcess.js"
import { fresh } from "../../../support/github/Remote.js"
import { settle, virtual } from "../../../support/github/VirtualTime.js"
import { putFile } from "../../../support/singleFile.js"

const settings = {
  maxWait: Duration.seconds(60),
  paceRequests: true,
  contentLimits: true,
  writeLane: { perMinute: 80, perHour: 500, pointsPerMinute: 400 }
}
const put = { _tag: "Put", path: "data/a.json", content: new TextEncoder().encode("1") } as const

const json = (path: string, value: object) => {
  const content = new TextEncoder().encode(JSON.stringify(value))
  return { _tag: "Put", path, content } as const
}

const announced = (limit: number, remaining: number, reset: number) => ({
  "x-ratelimit-limit": `${limit}`,
  "x-ratelimit-remaining": `${remaining}`,
  "x-ratelimit-reset": `${reset}`,
  "x-ratelimit-resource": "core"
})
const write = { endpoint: "put", resource: "core", creates: true }
const read = { endpoint: "get", resource: "core", creates: false }

describe("waiting requests", () => {
  it.effect("for the write lane delay no read, and those of one endpoint no other endpoint", () =>
    Effect.gen(function* () {
      const limits = yield* makeRateLimiter(settings)
      yield* limits.observe(announced(5000, 5000, 3600))
      yield* Effect.forEach(Array.from({ length: 80 }), () => limits.through(write)(Effect.void))
      yield* Effect.forEach(Array.from({ length: 400 }), () => limits.through(read)(Effect.void))
      const waiting = yield* Effect.forEach([write, read], (weight) =>
        Effect.fork(limits.through(weight)(Effect.void))
      )
      yield* TestClock.adjust("1 second")
      for (const fiber of waiting) assert.isNull(fiber.unsafePoll())
      const other = yield* Effect.fork(limits.through({ ...read, endpoint: "list" })(Effect.void))
      yield* TestClock.adjust("1 second")
      assert.isNotNull(other.unsafePoll())
      yield* TestClock.adjust("58 seconds")
      yield* Fiber.joinAll(waiting)
    })
  )

  it.scoped("for the limits of github.com writes to github.com, or where headers or options say so", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual()
      server.commit("main", [put])
      const oid = server.head()
      const limits = () => announced(5000, 5000, Math.floor(Date.now() / 1000) + 3000)
      let branches = 0
      const tookBy = (headers: Record<string, string>, options: Partial<GitHubOptions> = {}, count = 81) =>
        Effect.gen(function* () {
          server.headers = () => ({ ...limits(), ...headers })
          const remote = yield* connect(options)
          yield* remote.head("main")
          const writes = Effect.forEach(
            Array.from({ length: count }),
            () => Effect.suspend(() => remote.createBranch(`b${++branches}`, oid)),
            { discard: true }
          )
          const { result, took } = yield* settle(flight, writes)
          assert.isTrue(Either.isRight(result))
          return took
        })
      assert.strictEqual(yield* tookBy({}), 0, "a host that announces limits")
      const enterprise = { server: "GitHub.com", "x-github-enterprise-version": "enterprise-server@3.17.1" }
      assert.strictEqual(yield* tookBy(enterprise), 0, "an Enterprise server")
      assert.strictEqual(yield* tookBy({ server: "github.com" }), 60_000, "a proxy before github.com")
      assert.strictEqual(yield* tookBy({}, { writeLane: { perMinute: 4 } }, 9), 120_000, "as the options say")
      for (const [apiUrl, expected] of [
        [undefined, true],
        ["https://api.octocorp.ghe.com", true],
        ["https://ghe.example.com/api/v3", false],
        ["https://api.github.com.example.com", false]
      ] as const) {
        assert.strictEqual((yield* resolveOptions({ repo: "o/r", apiUrl })).contentLimits, expected, apiUrl)
      }
    })
  )

  it.effect("for thrift alone is never refused: sixty an hour are enough for sixty requests", () =>
    Effect.gen(function* () {
      const limits = yield* makeRateLimiter(settings)
      yield* limits.observe(announced(60, 52, 3500))
      const fiber = yield* Effect.fork(
        Effect.forEach(Array.from({ length: 4 }), () => limits.through(read)(Effect.void), {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust("4 minutes")
      yield* Fiber.join(fiber)
    })
  )

  it.scoped("read the limit although the quota is used up", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [put])
      server.headers = () => announced(5000, 0, Math.floor(Date.now() / 1000) + 3000)
      yield* settle(flight, remote.head("main"))
      const { result, took } = yield* settle(flight, remote.budget)
      assert.strictEqual(Either.getOrThrow(result).length, 2)
      assert.strictEqual(took, 0)
      const { result: refused } = yield* settle(flight, remote.head("main"))
      assert.propertyVal(Option.getOrThrow(Either.getLeft(refused)), "_tag", "RateLimitError")
    })
  )

  it.scoped("after a 503 waits as long as that asks, in reads and in writes", () =>
    Effect.gen(function* () {
      const { flight, remote, server } = yield* virtual()
      server.commit("main", [{ ...put, path: "x" }])
      const resting = (seconds: string) => {
        const from = server.seen.length
        server.fault = (_, index) =>
          index === from
            ? replying({ status: 503, body: { message: "resting" }, headers: { "retry-after": seconds } })
            : undefined
      }
      const insert = putFile(remote, "main", put.path, put.content, Option.none(), {
        message: "m"
      })
      for (const operation of [remote.head("main"), insert]) {
        resting("20")
        const { result, took } = yield* settle(flight, operation as Effect.Effect<unknown, unknown>)
        assert.isTrue(Either.isRight(result))
        assert.strictEqual(took, 20_000)
        resting("61")
        const { result: refused } = yield* settle(flight, remote.head("main"))
        assert.isTrue(Either.isLeft(refused), "longer advice than maxWait is an error at once")
      }
    })
  )

  it.scoped("ignore invalid times in a host's headers, and do not die of them", () =>
    Effect.gen(function* () {
      const { connect, flight, server } = yield* virtual({ maxRetries: 0 })
      server.commit("main", [put])
      const digits = ["0", "9".repeat(11), "9".repeat(14), "8640000000001", "9".repeat(16), "9".repeat(400)]
      for (const number of digits) {
        const remote = yield* connect()
        server.edit = (seen, sent) =>
          seen.url === "/rate_limit"
            ? {
                ...sent,
                body: Buffer.from(`{"resources":{"core":{"limit":60,"remaining":9,"reset":${number}}}}`)
              }
            : { ...sent, headers: { ...sent.headers, ...announced(5000, 0, 0), "x-ratelimit-reset": number } }
        for (const _ of [1, 2]) {
          const { result } = yield* settle(flight, remote.head("main"))
          assert.isTrue(Either.isRight(result), `a reset at ${number} stops the client`)
        }
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        const { result: examined } = yield* settle(flight, store.doctor)
        assert.isTrue(Either.isRight(examined), String(examined))
        const from = server.seen.length
        const headers = { "retry-after": number }
        server.fault = (_, index) =>
          index === from ? replying({ status: 429, body: { message: "slow down" }, headers }) : undefined
        const { result: refused } = yield* settle(flight, remote.head("main"))
        if (number === "0") continue
        const error = Option.getOrThrow(Either.getLeft(refused))
        assert.instanceOf(error, RateLimitError)
        assert.isFalse(Number.isNaN(error.resetAt?.getTime()), `advice to wait ${number} seconds`)
      }
    })
  )

  it("reads parts of a second as such, not as a day in January", () => {
    assert.strictEqual(retryAfter({ "retry-after": "1.5" }, Date.now()), 1500)
  })

  it.scoped("for an authorization that never comes waits until the deadline", () =>
    Effect.gen(function* () {
      const { connect, flight } = yield* virtual()
      const remote = yield* connect({ token: undefined, auth: Effect.never, deadline: "2 minutes" })
      const both = Effect.forEach(["main", "other"], (branch) => Effect.either(remote.head(branch)), {
        concurrency: 2
      })
      const { result, took } = yield* settle(flight, both)
      assert.strictEqual(took, 120_000)
      for (const one of Either.getOrThrow(result)) {
        assert.include(Option.getOrThrow(Either.getLeft(one)), { _tag: "RemoteError", reason: "Timeout" })
      }
    })
  )
})

const limited = Effect.gen(function* () {
  const { flight, remote, server } = yield* virtual({ useGraphql: true, maxRetries: 0 })
  const content = new TextEncoder().encode("1")
  server.commit("main", [{ _tag: "Put", path: "a.json", content }])
  const oid = server.id("main:a.json")
  const head = Option.getOrThrow(yield* remote.head("main"))
  const rest = Effect.asVoid(remote.snapshot("main").file("a.json", { fresh: true }))
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
      const one = yield* limited
      assert.strictEqual(yield* one.after(tooMuch, one.rest, one.graphql), 30_000)
      const other = yield* limited
      assert.strictEqual(yield* other.after(tooMuch, other.graphql, other.rest), 30_000)
    })
  )

  it.scoped("holds back its own resource alone where a quota is used up", () =>
    Effect.gen(function* () {
      const one = yield* limited
      assert.strictEqual(yield* one.after(usedUp("core"), one.rest, one.graphql), 0)
      const other = yield* limited
      assert.strictEqual(yield* other.after(usedUp("graphql"), other.graphql, other.rest), 0)
    })
  )
})

/** A clock whose sleepers are woken in the very step in which a test says so. */
const steppedClock = () => {
  let now = Date.now()
  const sleepers = new Map<() => void, number>()
  const clock: Clock.Clock = Object.assign(Object.create(Clock.make()) as Clock.Clock, {
    unsafeCurrentTimeMillis: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(now) * 1_000_000n),
    sleep: (duration: Duration.Duration) =>
      Effect.async<void>((resume) => {
        const wake = () => resume(Effect.void)
        sleepers.set(wake, now + Duration.toMillis(duration))
        return Effect.sync(() => sleepers.delete(wake))
      })
  })
  const tick = () => {
    now = Math.min(...sleepers.values())
    for (const [wake, at] of Array.from(sleepers)) if (at <= now && sleepers.delete(wake)) wake()
  }
  return { clock, sleepers, tick }
}

describe("an update that is interrupted about the moment in which its pause ends", () => {
  it.scoped("is not sent, or is waited for and judged", () =>
    Effect.gen(function* () {
      const outcomes = new Set<boolean>()
      for (let step = -3; step < 3; step++) {
        const { connect, flight, server } = yield* virtual()
        const { clock, sleepers, tick } = steppedClock()
        const remote = yield* connect({ writeLane: { perMinute: 1 } })
        server.commit("main", [json("data/people/ann.json", { n: 0 })])
        const store = yield* Effect.provideService(Store.make(), GitRemote, remote)
        const run = (n: number) =>
          Effect.runFork(Effect.withClock(store.collection("people").update("ann", { n }), clock))
        yield* Fiber.join(run(1))
        // The next update is built on settings that hold no longer, and must not be left as it lands.
        server.commit("main", [json("data/_chainstore.json", { format: 1, shardDepth: 1 })])
        const from = server.seen.length
        const fiber = run(2)
        yield* Effect.promise(async () => {
          const turn = () => new Promise(setImmediate)
          while (sleepers.size === 0 || flight.count > 0) await turn()
          const moments = [tick, () => fiber.unsafeInterruptAsFork(FiberId.none)]
          if (step < 0) moments.reverse()
          moments[0]!()
          for (let each = step < 0 ? 1 : 0; each < Math.abs(step); each++) await undefined
          moments[1]!()
          for (let quiet = 0; fiber.unsafePoll() === null; quiet++) {
            await turn()
            if (flight.count > 0) quiet = 0
            if (quiet > 5 && sleepers.size > 0) tick()
          }
        })
        assert.strictEqual(flight.count, 0)
        assert.strictEqual(JSON.parse(server.show("data/people/ann.json")!).n, 1, `at step ${step}`)
        outcomes.add(server.seen.slice(from).some(({ method }) => method === "PUT"))
      }
      assert.strictEqual(outcomes.size, 2)
    })
  )
})

describe("a hundred concurrent requests, as many as GitHub allows", () => {
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
      const read = Effect.asVoid(remote.snapshot("main").file("a.json"))
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
