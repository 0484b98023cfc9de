import type { Json, JsonObject } from "../../domain/Document.js"

export const operators = [
  "is",
  "isNot",
  "contains",
  "startsWith",
  "lessThan",
  "atMost",
  "greaterThan",
  "atLeast",
  "exists",
  "missing"
] as const

/** How a filter compares. `exists` and `missing` take no value. */
export type Operator = (typeof operators)[number]

/** One condition on the values found at a dotted path, which may lead into nested objects and lists. */
export interface Filter {
  readonly path: string
  readonly operator: Operator
  readonly value?: Json | undefined
}

export const takesValue = (operator: Operator): boolean => operator !== "exists" && operator !== "missing"

/** What a person typed: JSON where it is JSON, so `5` and `"5"` differ; any other text is a string. */
export const parseValue = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** The shortest text that `parseValue` reads as this value. */
export const printValue = (value: Json): string => {
  if (typeof value !== "string") return JSON.stringify(value)
  return parseValue(value) === value ? value : JSON.stringify(value)
}

const isList = (value: Json): value is ReadonlyArray<Json> => Array.isArray(value)

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const reach = (value: Json, segments: ReadonlyArray<string>, found: Array<Json>): void => {
  if (segments.length === 0) {
    found.push(value)
    return
  }
  if (isList(value)) {
    const [first = ""] = segments
    if (/^\d+$/.test(first)) {
      const element = value[Number(first)]
      if (element !== undefined) reach(element, segments.slice(1), found)
      return
    }
    for (const element of value) reach(element, segments, found)
    return
  }
  if (!isObject(value)) return
  // A key may hold dots itself: the longest key that exists wins.
  for (let length = segments.length; length > 0; length--) {
    const key = segments.slice(0, length).join(".")
    if (Object.hasOwn(value, key)) {
      reach(value[key]!, segments.slice(length), found)
      return
    }
  }
}

/** Every value at a dotted path: a number picks an element of a list, a name looks into all of them. */
export const valuesAt = (document: JsonObject, path: string): ReadonlyArray<Json> => {
  const found: Array<Json> = []
  reach(document, path.split("."), found)
  return found
}

export const sameJson = (a: Json, b: Json): boolean => {
  if (a === b) return true
  if (isList(a)) return isList(b) && a.length === b.length && a.every((value, i) => sameJson(value, b[i]!))
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key]!, b[key]!))
  )
}

const rank = (value: Json | undefined): number => {
  if (value === undefined) return 5
  if (value === null) return 4
  if (typeof value === "number") return 0
  if (typeof value === "string") return 1
  return typeof value === "boolean" ? 2 : 3
}

/** A total order of values: numbers, text, truth values, lists and objects, null, and what is missing last. */
export const compareJson = (a: Json | undefined, b: Json | undefined): number => {
  const byKind = rank(a) - rank(b)
  if (byKind !== 0) return byKind
  if (typeof a === "number" && typeof b === "number") return a - b
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b)
  const left = JSON.stringify(a) ?? ""
  const right = JSON.stringify(b) ?? ""
  return left < right ? -1 : left > right ? 1 : 0
}

const equals = (found: Json, value: Json): boolean =>
  sameJson(found, value) || (isList(found) && found.some((element) => sameJson(element, value)))

const text = (value: Json): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).toLowerCase()

const contains = (found: Json, value: Json): boolean => {
  if (isList(found)) return found.some((element) => sameJson(element, value) || contains(element, value))
  if (isObject(found)) return Object.hasOwn(found, String(value))
  return found !== null && text(found).includes(text(value))
}

const ordered = (found: Json, value: Json, accept: (order: number) => boolean): boolean => {
  if (isList(found)) return found.some((element) => ordered(element, value, accept))
  return rank(found) === rank(value) && rank(found) < 2 && accept(compareJson(found, value))
}

const holds = (operator: Operator, found: Json, value: Json): boolean => {
  switch (operator) {
    case "is":
      return equals(found, value)
    case "contains":
      return contains(found, value)
    case "startsWith":
      return isList(found)
        ? found.some((element) => holds("startsWith", element, value))
        : found !== null && text(found).startsWith(text(value))
    case "lessThan":
      return ordered(found, value, (order) => order < 0)
    case "atMost":
      return ordered(found, value, (order) => order <= 0)
    case "greaterThan":
      return ordered(found, value, (order) => order > 0)
    case "atLeast":
      return ordered(found, value, (order) => order >= 0)
    default:
      return true
  }
}

/** Whether a document satisfies one filter. `isNot` and `missing` are the exact opposites of `is` and `exists`. */
export const matchesFilter = (document: JsonObject, filter: Filter): boolean => {
  const found = valuesAt(document, filter.path)
  if (filter.operator === "exists") return found.length > 0
  if (filter.operator === "missing") return found.length === 0
  const value = filter.value ?? null
  if (filter.operator === "isNot") return !found.some((one) => equals(one, value))
  return found.some((one) => holds(filter.operator, one, value))
}

/** Whether a document satisfies every filter. */
export const matchesAll = (document: JsonObject, filters: ReadonlyArray<Filter>): boolean =>
  filters.every((filter) => matchesFilter(document, filter))
