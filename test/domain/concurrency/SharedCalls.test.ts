import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeSharedCalls, makeSharedResults } from "../../../src/domain/concurrency/SharedCalls.js"

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

describe("makeSharedResults", () => {
  /** Calls under one key, of which each ends when the test says so. */
  const called = () => {
    const share = makeSharedResults<string, string>()
    const shared: Array<string> = []
    const begun: Array<string> = []
    const start = (name: string) =>
      Effect.gen(function* () {
        const end = yield* Deferred.make<string, string>()
        const call = Effect.suspend(() => {
          begun.push(name)
          return Deferred.await(end)
        })
        const fiber = yield* Effect.fork(share("a", call, () => void shared.push(name)))
        yield* Effect.yieldNow()
        return { fiber, end }
      })
    return { start, shared, begun }
  }

  it.effect("callers of one key share one result, and those that did not make it are told so", () =>
    Effect.gen(function* () {
      const { begun, shared, start } = called()
      const one = yield* start("one")
      const others = [yield* start("two"), yield* start("three")]
      yield* Deferred.succeed(one.end, "result")
      for (const { fiber } of [one, ...others]) assert.strictEqual(yield* Fiber.join(fiber), "result")
      assert.deepStrictEqual(begun, ["one"])
      assert.deepStrictEqual(shared, ["two", "three"])
    })
  )

  it.effect("a failure is of its caller alone: each of the others makes a call", () =>
    Effect.gen(function* () {
      const { begun, shared, start } = called()
      const one = yield* start("one")
      const two = yield* start("two")
      const three = yield* start("three")
      yield* Deferred.fail(one.end, "late")
      assert.strictEqual(yield* Effect.flip(Fiber.join(one.fiber)), "late")
      yield* Deferred.succeed(two.end, "result")
      yield* Deferred.fail(three.end, "no")
      assert.strictEqual(yield* Fiber.join(two.fiber), "result")
      assert.strictEqual(yield* Effect.flip(Fiber.join(three.fiber)), "no")
      assert.deepStrictEqual(begun, ["one", "two", "three"])
      assert.deepStrictEqual(shared, [])
    })
  )

  it.effect("a caller whose call follows an interrupted one has its own result, also a failure", () =>
    Effect.gen(function* () {
      const { begun, shared, start } = called()
      const one = yield* start("one")
      const two = yield* start("two")
      yield* Fiber.interrupt(one.fiber)
      yield* Deferred.fail(two.end, "no")
      assert.strictEqual(yield* Effect.flip(Fiber.join(two.fiber)), "no")
      assert.deepStrictEqual(begun, ["one", "two"])
      assert.deepStrictEqual(shared, [])
    })
  )

  it.effect("each use of one effect is a call of its own, and it need not be told", () =>
    Effect.gen(function* () {
      let calls = 0
      const share = makeSharedResults<number, string>()
      const call = share(
        "a",
        Effect.sync(() => ++calls)
      )
      assert.strictEqual(yield* call, 1)
      assert.strictEqual(yield* call, 2)
      const slow = share("a", Effect.as(Effect.yieldNow(), 7))
      assert.deepStrictEqual(yield* Effect.all([slow, slow], { concurrency: "unbounded" }), [7, 7])
    })
  )
})
