import * as Either from "effect/Either"
import type { UniqueViolation } from "../errors/StoreError.js"
import { encodeInline } from "../json/CanonicalJson.js"

/** How many violations one message names. */
export const maxViolationsInMessage = 3

/** Characters of a value in a message. */
const mostShown = 100

/** A value in a message. */
export const valueInMessage = (value: unknown): string => {
  const text = Either.getOrElse(encodeInline(value), () => "?")
  return text.length <= mostShown ? text : `${text.slice(0, mostShown)}...`
}

/** A violation in a sentence. */
export const describeViolation = ({ collection, id, index, other, value }: UniqueViolation): string =>
  `${collection}/${id} would have the value ${valueInMessage(value)} of the unique index ${index}, which ${collection}/${other} has`
