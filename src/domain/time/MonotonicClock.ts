import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * Milliseconds, with a fraction, of a clock that nobody sets, for everything that lasts: deadlines, intervals, leases, doubts. What is written
 * as a date is `Clock.currentTimeMillis`, which goes back or forward where somebody sets the machine's clock.
 */
export const millis: Effect.Effect<number> = Effect.map(
  Clock.currentTimeNanos,
  (nanos) => Number(nanos) / 1_000_000
).pipe(
  // A test's clock has no nanoseconds while it stands between two milliseconds. Nobody sets it behind the test's back.
  Effect.catchAllDefect(() => Clock.currentTimeMillis)
)
