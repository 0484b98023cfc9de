import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ValidationError } from "../errors/StoreError.js"

/** The first millisecond of the year 10000, whose dates RFC 3339 cannot write and Git's tools do not read. */
const end = 253_402_300_800_000

/**
 * Milliseconds since the epoch by the clock, for what is written. Fails where the clock is before 1970 or after 9999,
 * so that nothing with a date that nobody can read gets into a history.
 */
export const now = (operation: string): Effect.Effect<number, ValidationError> =>
  Effect.flatMap(Clock.currentTimeMillis, (millis) =>
    millis >= 0 && millis < end
      ? Effect.succeed(Math.floor(millis))
      : Effect.fail(
          new ValidationError({
            operation,
            message: `The clock of this machine is wrong: it says ${millis} milliseconds since 1970`,
            hint: "Set the clock to a date between 1970 and 9999"
          })
        )
  )
