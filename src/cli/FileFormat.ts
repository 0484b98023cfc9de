import { Effect, Option } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"

/** The format of the option, or otherwise of the file extension. */
export const formatOf = <const Format extends string>(
  operation: string,
  name: string,
  given: Option.Option<string>,
  known: ReadonlyArray<Format>
) => {
  const format = Option.getOrElse(given, () => /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "")
  const plain = format === "jsonl" ? "ndjson" : format
  const found = known.find((one) => one === plain)
  return found !== undefined
    ? Effect.succeed(found)
    : Effect.fail(
        new ValidationError({
          operation,
          message: format === "" ? "the format is unknown" : `${format} is not a format of ${operation}`,
          hint: `use --format ${known.join(" | ")}, or a file name with that extension`
        })
      )
}
