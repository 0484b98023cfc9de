import { runSync } from "../../domain/concurrency/Steps.js"
import type { Json } from "../../domain/json/Json.js"
import { valueText } from "../../domain/merge/JsonIdentity.js"

/** A text that is equal for equal values. */
const textOf = (value: Json): string => runSync(valueText(value))

/** The items of both lists; an item that both have is taken once. The lists of a document may be long. */
const joined = (first: ReadonlyArray<Json>, second: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const present = new Set(first.map(textOf))
  return [...first, ...second.filter((item) => !present.has(textOf(item)))]
}

/** Whether a value has no number whose digits a review may have rounded. */
const isExact = (value: Json): boolean =>
  typeof value === "number"
    ? Number.isSafeInteger(value)
    : typeof value !== "object" || value === null || Object.values(value).every(isExact)

/**
 * Both values of a conflict in one: the lines of two texts, or the items of two lists, with equal items once. Undefined for
 * other values, and inside of lists, whose items may have moved.
 */
export const bothSides = (
  path: ReadonlyArray<string | number>,
  first: Json | undefined,
  second: Json | undefined
): Json | undefined => {
  if (path.length === 0 || path.some((step) => typeof step === "number")) return undefined
  if (typeof first === "string" && typeof second === "string") return `${first}\n${second}`
  return Array.isArray(first) && Array.isArray(second) && isExact(first) && isExact(second)
    ? joined(first, second)
    : undefined
}
