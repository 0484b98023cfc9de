import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ValidationError } from "../errors/StoreError.js"

/** The first millisecond of the year 10000. RFC 3339 has no later dates, and Git's tools do not read them. */
const end = 253_402_300_800_000

/**
 * The current time in milliseconds since the epoch, for dates that are written. Fails if the clock is before 1970 or
 * after 9999, because no program could read such a date in the history.
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
