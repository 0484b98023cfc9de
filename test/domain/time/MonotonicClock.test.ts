import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, TestClock } from "effect"
import * as MonotonicClock from "../../../src/domain/time/MonotonicClock.js"

describe("the time of a monotonic clock", () => {
  it("is its own in milliseconds with a fraction, whatever the date is", () => {
    const clock: Clock.Clock = {
      ...Clock.make(),
      currentTimeMillis: Effect.succeed(7),
      currentTimeNanos: Effect.succeed(1_234_567_890n)
    }
    assert.strictEqual(Effect.runSync(Effect.withClock(MonotonicClock.millis, clock)), 1234.56789)
  })

  it.effect("is that of a clock that a test sets, also between two milliseconds", () =>
    Effect.gen(function* () {
      const began = yield* MonotonicClock.millis
      yield* TestClock.adjust("5 millis")
      assert.strictEqual(yield* MonotonicClock.millis, began + 5)
      yield* TestClock.setTime(began + 7.5)
      assert.strictEqual(Math.floor(yield* MonotonicClock.millis), began + 7)
    })
  )
})
