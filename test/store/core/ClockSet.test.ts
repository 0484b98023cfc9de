import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Either, Fiber, Option, TestClock } from "effect"
import { PushThrottles } from "../../../src/git/clone/PushThrottle.js"
import { defaultLimits, type Session, Sessions } from "../../../src/http/console/Sessions.js"
import * as SignInThrottle from "../../../src/http/console/SignInThrottle.js"
import * as ArchiveTokens from "../../../src/http/host/access/ArchiveTokens.js"
import * as HostLimits from "../../../src/http/host/access/RateLimits.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import { resolveOptions } from "../../../src/store/remote/github/client/Options.js"
import { makeRateLimiter } from "../../../src/store/remote/github/client/RateLimiter.js"
import * as Store from "../../../src/store/Store.js"
import { verbs } from "../../support/github/InProcess.js"
import { settle, virtual } from "../../support/github/VirtualTime.js"
import { hour, settableClock } from "../../support/SetClock.js"

const json = (path: string, value: unknown) => ({
  _tag: "Put" as const,
  path,
  content: new TextEncoder().encode(JSON.stringify(value))
})

/** Whether an effect that was forked has ended after a while. */
const hasEnded = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) => Effect.map(Fiber.poll(fiber), Option.isSome)

for (const [way, by] of [
  ["back", -hour],
  ["forward", hour]
] as const) {
  describe(`a clock that is set ${way} by an hour`, () => {
    it.effect("does not change when the next push begins", () =>
      Effect.gen(function* () {
        const { set, within } = yield* settableClock
        const pace = (yield* PushThrottles)(`https://host/${way}`, Duration.seconds(2))
        yield* within(pace.recordPush)
        set(by)
        const waiting = yield* Effect.fork(within(pace.acquire))
        yield* TestClock.adjust("1 second")
        assert.isFalse(yield* hasEnded(waiting))
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* hasEnded(waiting))
      })
    )

    it.effect("does not change how long a client pauses", () =>
      Effect.gen(function* () {
        const { set, within } = yield* settableClock
        const limits = yield* within(Effect.flatMap(resolveOptions({ repo: "a/b" }), makeRateLimiter))
        yield* within(limits.pause("core", 5_000))
        set(by)
        const weight = { endpoint: "GET /", resource: "core", creates: false }
        const waiting = yield* Effect.fork(within(limits.through(weight)(Effect.void)))
        yield* TestClock.adjust("4 seconds")
        assert.isFalse(yield* hasEnded(waiting))
        yield* TestClock.adjust("1 second")
        assert.isTrue(yield* hasEnded(waiting))
      })
    )

    it.effect("does not change when a session, a ticket and a window of guesses end", () =>
      Effect.gen(function* () {
        const { set, within } = yield* settableClock
        const sessions = yield* Sessions
        const tickets = yield* ArchiveTokens.ArchiveTokens
        const attempts = yield* SignInThrottle.make
        const session = (id: string) => ({
          session: { id, owner: "a", isAuthorized: Effect.succeed(true) } as Session,
          result: undefined
        })
        const made = yield* within(sessions.create((id) => Effect.succeed(session(id)), Effect.succeed))
        const ticket = yield* within(tickets.issue("a/b"))
        const guess = within(Effect.either(attempts.guard("client", Effect.fail("wrong"))))
        for (let at = 0; at < 10; at++) yield* guess
        set(by)
        assert.isTrue(Option.isSome(yield* within(sessions.find(made.session.id))))
        assert.isTrue(yield* within(tickets.verify(ticket, "a/b")))
        yield* TestClock.adjust("59 seconds")
        assert.notStrictEqual(Option.getOrThrow(Either.getLeft(yield* guess)), "wrong")
        yield* TestClock.adjust("1 seconds")
        assert.strictEqual(Option.getOrThrow(Either.getLeft(yield* guess)), "wrong")
        yield* TestClock.adjust("5 minutes")
        assert.isFalse(yield* within(tickets.verify(ticket, "a/b")))
        yield* TestClock.adjust("8 hours")
        assert.isTrue(Option.isNone(yield* within(sessions.find(made.session.id))))
      }).pipe(Effect.provide([Sessions.Default(defaultLimits), ArchiveTokens.layer]))
    )

    it.effect("does not change when a host's window of requests ends, and its date goes with the clock", () =>
      Effect.gen(function* () {
        const { set, within } = yield* settableClock
        const limits = yield* HostLimits.RateLimits
        const principal = { id: "one", login: "one", grants: [] }
        const charge = { principal, resource: "core", writes: false, endpoint: "/" } as const
        const ask = within(Effect.either(limits.enforce(charge, Effect.void)))
        assert.isTrue(Either.isRight(yield* ask))
        set(by)
        assert.strictEqual((yield* within(limits.window(principal, "core"))).reset, (hour + by) / 1000)
        yield* TestClock.adjust("59 minutes")
        assert.isTrue(Either.isLeft(yield* ask))
        yield* TestClock.adjust("1 minute")
        assert.isTrue(Either.isRight(yield* ask))
      }).pipe(Effect.provide(HostLimits.layer({ core: 1 })))
    )

    it.scoped("does not change for how long a head is doubted", () =>
      Effect.gen(function* () {
        const requests = (shift: number, minutes: number) =>
          Effect.gen(function* () {
            const { set, within } = yield* settableClock
            const { connect, flight, server } = yield* virtual()
            server.commit("main", [json("data/docs/a.json", { n: 0 })])
            const store = yield* Effect.provideService(Store.make(), GitRemote, yield* connect())
            const docs = store.collection("docs")
            const first = yield* settle(flight, within(docs.update("a", { n: 1 })))
            assert.isTrue(Either.isRight(first.result))
            set(shift)
            yield* TestClock.adjust(`${minutes} minutes`)
            server.commit("main", [json("data/docs/b.json", { n: 5 })])
            server.seen.length = 0
            const { result } = yield* settle(flight, within(docs.get("a")))
            assert.isTrue(Either.isRight(result))
            return verbs(server)
          })
        assert.deepStrictEqual(yield* requests(by, 2), yield* requests(0, 2))
        assert.deepStrictEqual(yield* requests(by, 0), yield* requests(0, 0))
      })
    )
  })
}
