import type { Json } from "../../domain/json/Json.js"

/**
 * The operators of a filter.
 *
 * @since 0.1.0
 * @category queries
 */
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

/**
 * How a filter compares. `exists` and `missing` take no value.
 *
 * @since 0.1.0
 * @category models
 */
export type Operator = (typeof operators)[number]

/**
 * One condition on the values found at a dotted path, which may lead into nested objects and lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface Filter {
  /** The field's path. */
  readonly path: string
  /** How the field is compared. */
  readonly operator: Operator
  /** The value that is compared with; absent for `exists` and `missing`. */
  readonly value?: Json | undefined
}

/**
 * Whether a filter with this operator has a value.
 *
 * @since 0.1.0
 * @category queries
 */
export const takesValue = (operator: Operator): boolean => operator !== "exists" && operator !== "missing"

/**
 * Reads a typed value: as JSON if it is valid JSON, so that `5` and `"5"` differ, and otherwise as text.
 *
 * @since 0.1.0
 * @category text
 */
export const parseValue = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/**
 * The shortest text that `parseValue` reads as this value.
 *
 * @since 0.1.0
 * @category text
 */
export const printValue = (value: Json): string => {
  if (typeof value !== "string") return JSON.stringify(value)
  return parseValue(value) === value ? value : JSON.stringify(value)
}
