import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, TestClock } from "effect"
import { completeOnceStarted, inDaemonFiber } from "../../../src/domain/concurrency/DaemonFiber.js"

/** Work that begins, waits until it is let go, and counts whether it ended or was interrupted. */
const makeWork = Effect.gen(function* () {
  const begun = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  const seen: Array<string> = []
  const work = Deferred.succeed(begun, undefined).pipe(
    Effect.zipRight(Deferred.await(letGo)),
    Effect.onInterrupt(() => Effect.sync(() => seen.push("interrupted"))),
    Effect.zipRight(Effect.sync(() => seen.push("ended")))
  )
  return { work, begun: Deferred.await(begun), letGo: Deferred.succeed(letGo, undefined), seen }
})

describe("work in a daemon fiber", () => {
  it.effect("continues when its caller is interrupted", () =>
    Effect.gen(function* () {
      const { begun, letGo, seen, work } = yield* makeWork
      const ended = yield* Deferred.make<void>()
      const caller = yield* Effect.fork(
        inDaemonFiber(Effect.ensuring(work, Deferred.succeed(ended, undefined)))
      )
      yield* begun
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(caller)))
      assert.deepStrictEqual(seen, [])
      yield* letGo
      yield* Deferred.await(ended)
      assert.deepStrictEqual(seen, ["ended"])
    })
  )

  it.effect("has its exit returned, and its timeout ends it where nothing can be interrupted", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* inDaemonFiber(Effect.fail("no")), Exit.fail("no"))
      assert.deepStrictEqual(yield* inDaemonFiber(Effect.succeed(1)), Exit.succeed(1))
      const late = Effect.timeoutFail(Effect.never, { duration: "1 second", onTimeout: () => "late" })
      const caller = yield* Effect.fork(Effect.uninterruptible(inDaemonFiber(late)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(caller), Exit.fail("late"))
    })
  )
})

describe("work that cannot be interrupted once it has started", () => {
  for (const how of ["from its beginning", "from a moment of its own"]) {
    it.effect(`${how}: an interrupted caller waits for its end`, () =>
      Effect.gen(function* () {
        const { begun, letGo, seen, work } = yield* makeWork
        const caller = yield* Effect.fork(
          how === "from its beginning" ? completeOnceStarted(work) : completeOnceStarted(work, () => true)
        )
        yield* begun
        const interruption = yield* Effect.fork(Fiber.interrupt(caller))
        yield* Effect.yieldNow()
        assert.isTrue((yield* Fiber.poll(interruption))._tag === "None")
        yield* letGo
        assert.isTrue(Exit.isInterrupted(yield* Fiber.join(interruption)))
        assert.deepStrictEqual(seen, ["ended"])
      })
    )
  }

  it.effect("is interrupted before that, and its caller waits for the end of the interruption", () =>
    Effect.gen(function* () {
      const { begun, seen, work } = yield* makeWork
      const caller = yield* Effect.fork(completeOnceStarted(work, () => false))
      yield* begun
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(caller)))
      assert.deepStrictEqual(seen, ["interrupted"])
    })
  )

  it.effect("has its result returned", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* completeOnceStarted(Effect.succeed(1)), 1)
      assert.strictEqual(yield* Effect.flip(completeOnceStarted(Effect.fail("no"))), "no")
      const late = Effect.timeoutFail(Effect.never, { duration: "1 second", onTimeout: () => "late" })
      const caller = yield* Effect.fork(Effect.uninterruptible(Effect.flip(completeOnceStarted(late))))
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(caller), "late")
    })
  )
})
