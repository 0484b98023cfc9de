import { type Duration, Either } from "effect"
import { type DurationInput, readDuration } from "../../domain/time/DurationInput.js"

/** The duration that an option of a constructor gives; throws a `TypeError` that says what is wrong with it. */
export const durationOption = (option: string, given: DurationInput): Duration.Duration =>
  Either.getOrThrowWith(readDuration(given), (problem) => new TypeError(`${option} ${problem}`))
