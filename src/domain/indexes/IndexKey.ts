import * as Either from "effect/Either"
import { encodeInline } from "../json/CanonicalJson.js"
import type { Json } from "../json/Json.js"
import { equalJson } from "../json/JsonEquality.js"
import type { LosslessJson } from "../json/LosslessJson.js"
import { numberSpellings } from "../json/NumberText.js"

/**
 * The key of a value in an index: a string itself, or the JSON text of any other value in one line.
 *
 * @since 0.1.0
 * @category utilities
 */
export const indexKeyOf = (value: LosslessJson): string =>
  typeof value === "string"
    ? value
    : Either.getOrElse(encodeInline(value), () =>
        typeof value === "number" ? String(value) : JSON.stringify(value)
      )

/** The index keys of a field: of a list, those of its distinct elements. */
export const indexKeysOf = (field: LosslessJson | undefined): ReadonlyArray<string> => {
  if (field === undefined) return []
  return Array.isArray(field) ? [...new Set(field.map(indexKeyOf))] : [indexKeyOf(field)]
}

const isList = <A>(value: A | ReadonlyArray<A>): value is ReadonlyArray<A> => Array.isArray(value)

const holdsNumber = (value: Json): boolean =>
  typeof value === "number" ||
  (typeof value === "object" && value !== null && Object.values(value).some(holdsNumber))

const parsed = (key: string): Json | undefined => {
  try {
    return JSON.parse(key) as Json
  } catch {
    return undefined
  }
}

/** The keys of one value in all spellings of its numbers that the index may contain. */
const keysOfValue = (value: Json, known: ReadonlyMap<string, unknown>): Array<string> => {
  if (typeof value === "number") {
    const safe = Number.isSafeInteger(value) || !Number.isInteger(value)
    // Beyond the safe integers, many different integers are the same JavaScript number.
    const more = safe ? [] : [...known.keys()].filter((key) => /^-?\d/.test(key) && Number(key) === value)
    return [...numberSpellings(value), ...more]
  }
  if (!holdsNumber(value)) return [indexKeyOf(value)]
  const start = isList(value) ? "[" : "{"
  return [
    indexKeyOf(value),
    ...[...known.keys()].filter((key) => key.startsWith(start) && equalJson(parsed(key), value))
  ]
}

/**
 * The keys of an index (`known`) whose documents include all documents with a field that equals `value` or is a list
 * with such an element, in all spellings of its numbers. Undefined for an empty list, which no index contains.
 *
 * @since 0.1.0
 * @category utilities
 */
export const lookupKeys = (
  value: Json,
  known: ReadonlyMap<string, unknown>
): ReadonlyArray<string> | undefined => {
  if (!isList(value)) return [...new Set(keysOfValue(value, known))]
  const [first] = value
  return first === undefined
    ? undefined
    : [...new Set([...keysOfValue(value, known), ...keysOfValue(first, known)])]
}
