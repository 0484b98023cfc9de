import { type Duration, Either } from "effect"
import { type DurationInput, readDuration } from "../../domain/time/DurationInput.js"

/** Parses a duration option of a constructor. Throws a `TypeError` that names the option and the problem. */
export const durationOption = (option: string, given: DurationInput): Duration.Duration =>
  Either.getOrThrowWith(readDuration(given), (problem) => new TypeError(`${option} ${problem}`))
