import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Waits a random time, whose limit doubles with each attempt, so that competing writers do not retry in step. */
export const backOff = (attempt: number, firstLimitMillis = 10): Effect.Effect<void> =>
  Effect.flatMap(Random.nextIntBetween(0, firstLimitMillis * 2 ** Math.min(attempt, 6)), Effect.sleep)
