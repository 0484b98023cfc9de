import { Effect, Option } from "effect"
import { ValidationError } from "../domain/StoreError.js"

/** The format that is asked for, or that the ending of the file's name says. */
export const formatOf = (
  operation: string,
  name: string,
  given: Option.Option<string>,
  known: ReadonlyArray<string>
) => {
  const format = Option.getOrElse(given, () => /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "")
  const plain = format === "jsonl" ? "ndjson" : format
  return known.includes(plain)
    ? Effect.succeed(plain)
    : Effect.fail(
        new ValidationError({
          operation,
          message: format === "" ? "the format is not known" : `${format} is not a format of ${operation}`,
          hint: `use --format ${known.join(" | ")}, or such an ending of the file's name`
        })
      )
}
