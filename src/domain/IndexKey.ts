import * as Either from "effect/Either"
import { encodeInline, numberText } from "./CanonicalJson.js"
import type { Json } from "./Document.js"

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

/** The value with 0 for every -0, which equals it. */
const positive = (value: Json): Json => {
  if (value === 0) return 0
  if (typeof value !== "object" || value === null) return value
  return isList(value)
    ? value.map(positive)
    : Object.fromEntries(Object.entries(value).map(([key, member]) => [key, positive(member)]))
}

const textOf = (value: Json): string => Either.getOrElse(encodeInline(value), () => JSON.stringify(value))

/** The key of one value in an index: a string is its own key, anything else its JSON text in one line. */
export const keyOf = (value: Json): string => {
  if (typeof value === "string") return value
  if (typeof value === "number") return numberText(value === 0 ? 0 : value)
  const text = textOf(value)
  return text.includes("-0.0") ? textOf(positive(value)) : text
}

/** The keys under which a document with this field is found: those of each distinct element of a list. */
export const keysOf = (field: Json | undefined): ReadonlyArray<string> => {
  if (field === undefined) return []
  return isList(field) ? [...new Set(field.map(keyOf))] : [keyOf(field)]
}

const spellings = (value: number): ReadonlyArray<string> => {
  if (value === 0) return ["0", "0.0", "-0", "-0.0"]
  if (!Number.isInteger(value)) return [keyOf(value)]
  const whole = BigInt(value).toString()
  const float = value.toExponential().replace(/e\+(\d)$/, "e+0$1")
  return [...new Set([keyOf(value), whole, Math.abs(value) < 1e16 ? `${whole}.0` : float])]
}

/**
 * The keys that together hold every document whose field equals `value` or is a list that contains it, in the spelling
 * of this store or of the reference. None where no index can tell: nothing is indexed under an empty list.
 */
export const lookupKeys = (value: Json): ReadonlyArray<string> | undefined => {
  if (typeof value === "number") return spellings(value)
  if (!isList(value)) return [keyOf(value)]
  const [first] = value
  return first === undefined ? undefined : [...new Set([keyOf(value), keyOf(first)])]
}

/** Deep equality of JSON values: `1` is not `"1"`, the order of keys does not matter. */
export const equalJson = (a: Json | undefined, b: Json | undefined): boolean => {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (isList(a) || isList(b)) {
    return isList(a) && isList(b) && a.length === b.length && a.every((item, at) => equalJson(item, b[at]))
  }
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  )
}

/** Whether a field's value equals `value` or is a list that contains it. */
export const fieldMatches = (field: Json | undefined, value: Json): boolean =>
  field !== undefined &&
  (equalJson(field, value) || (isList(field) && field.some((item) => equalJson(item, value))))
