import * as Either from "effect/Either"
import type { UniqueViolation } from "../errors/StoreError.js"
import { encodeInline } from "../json/CanonicalJson.js"

/** The maximum number of violations in one message. */
export const maxViolationsInMessage = 3

/** The maximum length of a value in a message. */
const mostShown = 100

/** A value for a message, shortened. */
export const valueInMessage = (value: unknown): string => {
  const text = Either.getOrElse(encodeInline(value), () => "?")
  return text.length <= mostShown ? text : `${text.slice(0, mostShown)}...`
}

/** A violation as a sentence. */
export const describeViolation = ({ collection, id, index, other, value }: UniqueViolation): string =>
  `${collection}/${id} would have the value ${valueInMessage(value)} of the unique index ${index}, which ${collection}/${other} has`
