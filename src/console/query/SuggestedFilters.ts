import type { Json } from "../../domain/json/Json.js"
import type { Filter } from "../../store/browse/Filter.js"
import { containsRounded } from "../values/Cell.js"

/** A cell or a header of the table; `value` is undefined for a header and for a missing field. */
export interface FilterTarget {
  readonly path: string
  readonly value: Json | undefined
}

/** Filters are part of the address, so longer values are not offered. */
const maxValueLength = 1000

/** Dates whose text order is their time order: https://www.rfc-editor.org/rfc/rfc3339#section-5.6 */
const date = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** The filters offered for a cell or a header. */
export const suggestedFilters = ({ path, value }: FilterTarget): ReadonlyArray<Filter> => {
  const presence: ReadonlyArray<Filter> = [
    { path, operator: "exists" },
    { path, operator: "missing" }
  ]
  // The stored digits of a rounded number are unknown.
  if (value === undefined || containsRounded(value) || JSON.stringify(value).length > maxValueLength)
    return presence
  const isOrdered = typeof value === "number" || (typeof value === "string" && date.test(value))
  const compared: ReadonlyArray<Filter["operator"]> = [
    "is",
    "isNot",
    ...(isOrdered ? (["atLeast", "atMost"] as const) : [])
  ]
  return [...compared.map((operator) => ({ path, operator, value })), ...presence]
}

/** Adds a filter, unless it is already there. */
export const withFilter = (filters: ReadonlyArray<Filter>, filter: Filter): ReadonlyArray<Filter> => {
  const text = JSON.stringify([filter.path, filter.operator, filter.value])
  return filters.some((one) => JSON.stringify([one.path, one.operator, one.value]) === text)
    ? filters
    : [...filters, filter]
}
