import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, TestClock } from "effect"
import { PushThrottles } from "../../../src/git/clone/PushThrottle.js"

const make = (url: string) => Effect.map(PushThrottles, (throttles) => throttles(url, Duration.seconds(10)))

const isDone = <A, E>(fiber: Fiber.RuntimeFiber<A, E>) =>
  Effect.map(Fiber.poll(fiber), ({ _tag }) => _tag === "Some")

describe("the interval between pushes", () => {
  it.effect("is kept between the commits of two clones, and after the push of a transaction", () =>
    Effect.gen(function* () {
      const [one, other] = [
        yield* make("https://git.example/two.git"),
        yield* make("https://git.example/Two.git")
      ]
      yield* one.recordPush
      const first = yield* Effect.fork(one.acquire)
      const second = yield* Effect.fork(other.acquire)
      yield* TestClock.adjust("9 seconds")
      assert.deepStrictEqual([yield* isDone(first), yield* isDone(second)], [false, false])
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* isDone(first)) !== (yield* isDone(second)), true)
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual((yield* isDone(first)) !== (yield* isDone(second)), true)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([yield* isDone(first), yield* isDone(second)], [true, true])
    })
  )

  it.effect("is not prolonged for a waiting commit by transactions that follow each other", () =>
    Effect.gen(function* () {
      const { acquire, recordPush } = yield* make("https://git.example/busy.git")
      yield* acquire
      const waiting = yield* Effect.fork(acquire)
      yield* Effect.repeatN(Effect.zipRight(TestClock.adjust("4 seconds"), recordPush), 2)
      assert.isTrue(yield* isDone(waiting))
    })
  )

  it.effect("begins with the request, which follows the building of a pack", () =>
    Effect.gen(function* () {
      const { acquire, recordAcquiredPush } = yield* make("https://git.example/slow.git")
      yield* acquire
      yield* TestClock.adjust("3 seconds")
      yield* recordAcquiredPush
      const next = yield* Effect.fork(acquire)
      yield* TestClock.adjust("9 seconds")
      assert.isFalse(yield* isDone(next))
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isDone(next))
    })
  )
})
