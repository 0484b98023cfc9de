import * as Duration from "effect/Duration"
import * as Either from "effect/Either"

/**
 * A length of time as an option: Effect's `DurationInput`, such as `"30 seconds"` or `Duration.minutes(1)`, without
 * bare numbers, since some readers take those for seconds and Effect takes them for milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export type DurationInput = Exclude<Duration.DurationInput, number>

/** The duration that an option gives, or what is wrong with it, as the rest of a sentence that begins with its name. */
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
