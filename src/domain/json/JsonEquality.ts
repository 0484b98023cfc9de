import type { Json } from "./Json.js"

const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

/**
 * Deep equality of JSON values. `1` is not equal to `"1"`; the order of keys does not matter.
 *
 * @since 0.1.0
 * @category utilities
 */
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

/**
 * Whether a field's value equals `value` or is a list that contains it.
 *
 * @since 0.1.0
 * @category utilities
 */
export const fieldMatches = (field: Json | undefined, value: Json): boolean =>
  field !== undefined &&
  (equalJson(field, value) || (isList(field) && field.some((item) => equalJson(item, value))))
