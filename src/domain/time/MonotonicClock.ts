import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/**
 * The time of a monotonic clock in milliseconds, with a fraction. Use it for durations: deadlines, intervals, leases.
 * Dates use `Clock.currentTimeMillis`, which jumps when the machine's clock is set.
 */
export const millis: Effect.Effect<number> = Effect.map(
  Clock.currentTimeNanos,
  (nanos) => Number(nanos) / 1_000_000
).pipe(
  // TestClock dies on `currentTimeNanos` between two milliseconds. It never jumps, so its milliseconds are monotonic too.
  Effect.catchAllDefect(() => Clock.currentTimeMillis)
)
