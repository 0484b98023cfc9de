import { runSync } from "../../../domain/concurrency/Steps.js"
import type { Json } from "../../../domain/json/Json.js"
import { byValue } from "../../../domain/merge/JsonIdentity.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"

const isSame = (one: Json, other: Json): boolean => runSync(byValue().isSame(one, other))

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
    ? [...theirs, ...ours.filter((item) => !theirs.some((other) => isSame(item, other)))]
    : undefined
}
