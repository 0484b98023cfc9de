import { Effect } from "effect"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { OrderField } from "../domain/query/Query.js"

const directions = ["asc", "desc"] as const

/** Parses fields with their order, such as `price desc, "full name"`. `argument` is their name in errors. */
export const fieldOrder = (
  operation: string,
  argument: string,
  text: string
): Effect.Effect<ReadonlyArray<OrderField>, ValidationError> =>
  Effect.forEach(text.split(","), (part) => {
    const [, quoted, field = quoted ?? "", word = "asc"] =
      /^\s*(?:"([^"]*)"|([^\s"]+))(?:\s+(asc|desc))?\s*$/i.exec(part) ?? []
    const order = directions.find((one) => one === word.toLowerCase())
    return field === "" || order === undefined
      ? new ValidationError({
          operation,
          message: `${argument} ${JSON.stringify(text)} has no field in ${JSON.stringify(part)}, or more than a field and asc or desc`,
          hint: `separate fields by commas, and quote a name with spaces: 'price desc, "full name"'`
        })
      : Effect.succeed({ field, order })
  })
