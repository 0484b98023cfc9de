import * as Duration from "effect/Duration"
import * as Either from "effect/Either"

/**
 * A duration as an option: Effect's `DurationInput`, such as `"30 seconds"` or `Duration.minutes(1)`, but not a bare
 * number: some people read it as seconds, and Effect reads it as milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export type DurationInput = Exclude<Duration.DurationInput, number>

/** Reads a duration. The error is the rest of a sentence that begins with the option's name. */
export const readDuration = (given: unknown): Either.Either<Duration.Duration, string> => {
  if (typeof given === "number") {
    return Either.left(
      `must be a duration with its unit, not the bare number ${given}: write "${given} seconds" or "${given} millis"`
    )
  }
  const isNegative =
    (typeof given === "string" && given.startsWith("-")) || (typeof given === "bigint" && given < 0n)
  const found = Duration.decodeUnknown(given)
  if (found._tag === "Some" && !isNegative) return Either.right(found.value)
  return Either.left(
    `must be a duration, such as "30 seconds" or "500 millis"${typeof given === "string" ? `, it is ${JSON.stringify(given)}` : ""}`
  )
}
