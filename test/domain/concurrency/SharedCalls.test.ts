import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeSharedCalls } from "../../../src/domain/concurrency/SharedCalls.js"

describe("makeSharedCalls", () => {
  it.effect(
    "callers of one key share one call and its result, also a failure or a defect; the next call is a new one",
    () =>
      Effect.gen(function* () {
        const share = makeSharedCalls<number, string>()
        let calls = 0
        for (const [outcome, expected] of [
          [Effect.succeed(7), Exit.succeed(7)],
          [Effect.fail("no"), Exit.fail("no")],
          [Effect.die("bug"), Exit.die("bug")]
        ] as const) {
          const gate = yield* Deferred.make<void>()
          const call = Effect.suspend(() => {
            calls++
            return Effect.zipRight(Deferred.await(gate), outcome as Effect.Effect<number, string>)
          })
          const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.fork(share("a", call)))
          yield* Effect.yieldNow()
          yield* Deferred.succeed(gate, undefined)
          for (const fiber of fibers) assert.deepStrictEqual(yield* Fiber.await(fiber), expected)
        }
        assert.strictEqual(calls, 3)
      })
  )

  it.effect("keys are apart", () =>
    Effect.gen(function* () {
      const share = makeSharedCalls<string, never>()
      const blocked = yield* Effect.fork(share("a", Effect.never))
      yield* Effect.yieldNow()
      assert.strictEqual(yield* share("b", Effect.succeed("b")), "b")
      yield* Fiber.interrupt(blocked)
    })
  )

  it.effect(
    "an interrupted call is run again by one of its waiters, and an interrupted waiter leaves the call alone",
    () =>
      Effect.gen(function* () {
        const share = makeSharedCalls<string, never>()
        let calls = 0
        const gate = yield* Deferred.make<void>()
        const call = (name: string) =>
          Effect.suspend(() => {
            calls++
            return Effect.as(Deferred.await(gate), name)
          })
        const leader = yield* Effect.fork(share("a", call("leader")))
        yield* Effect.yieldNow()
        const left = yield* Effect.fork(share("a", call("left")))
        const waiters = yield* Effect.forEach(["one", "two"], (name) => Effect.fork(share("a", call(name))))
        yield* Effect.yieldNow()
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(left)))
        assert.strictEqual(calls, 1)
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(leader)))
        yield* Effect.yieldNow()
        yield* Deferred.succeed(gate, undefined)
        const results = yield* Effect.forEach(waiters, Fiber.join)
        assert.strictEqual(calls, 2)
        assert.strictEqual(results[0], results[1])
        assert.include(["one", "two"], results[0])
      })
  )
})
