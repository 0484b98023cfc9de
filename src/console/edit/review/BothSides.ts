import { runSync } from "../../../domain/concurrency/Steps.js"
import type { Json } from "../../../domain/json/Json.js"
import { valueText } from "../../../domain/merge/JsonIdentity.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"

/** A text that is equal for equal values. */
const textOf = (value: Json): string => runSync(valueText(value))

/** The items of both lists; an item that both have is taken once. The lists of a document may be long. */
const joined = (theirs: ReadonlyArray<Json>, ours: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const present = new Set(theirs.map(textOf))
  return [...theirs, ...ours.filter((item) => !present.has(textOf(item)))]
}

/** Whether a value has no number whose digits a review may have rounded. */
const isExact = (value: Json): boolean =>
  typeof value === "number"
    ? Number.isSafeInteger(value)
    : typeof value !== "object" || value === null || Object.values(value).every(isExact)

/** A field that both sides changed; an absent value is undefined. */
export interface ConflictField {
  readonly path: MergeConflict["path"]
  readonly base?: Json | undefined
  readonly ours?: Json | undefined
  readonly theirs?: Json | undefined
}

/**
 * Both values of a conflict: the lines of two texts, or the items of two lists, theirs first and what both have once.
 * Undefined for other values, and inside of lists, whose items may have moved.
 */
export const bothOf = ({ ours, path, theirs }: ConflictField): Json | undefined => {
  if (path.some((step) => typeof step === "number")) return undefined
  if (typeof theirs === "string" && typeof ours === "string") return `${theirs}\n${ours}`
  return Array.isArray(theirs) && Array.isArray(ours) && isExact(theirs) && isExact(ours)
    ? joined(theirs, ours)
    : undefined
}
