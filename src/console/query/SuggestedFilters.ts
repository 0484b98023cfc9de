import type { Json } from "../../domain/json/Json.js"
import type { Filter } from "../../store/browse/Filter.js"
import { containsRounded } from "../values/Cell.js"

/** A cell or a header of the table; `value` is undefined for a header, and where the document has no such field. */
export interface FilterTarget {
  readonly path: string
  readonly value: Json | undefined
}

/** A filter is part of the address, which bears no longer values. */
const maxValueLength = 1000

/** Texts that are ordered as the dates that they write: https://www.rfc-editor.org/rfc/rfc3339#section-5.6 */
const date = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** The filters that a cell or a header offers. */
export const suggestedFilters = ({ path, value }: FilterTarget): ReadonlyArray<Filter> => {
  const presence: ReadonlyArray<Filter> = [
    { path, operator: "exists" },
    { path, operator: "missing" }
  ]
  // Of a rounded number nobody knows what the file says.
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

/** The filters with one more, unless it is among them. */
export const withFilter = (filters: ReadonlyArray<Filter>, filter: Filter): ReadonlyArray<Filter> => {
  const text = JSON.stringify([filter.path, filter.operator, filter.value])
  return filters.some((one) => JSON.stringify([one.path, one.operator, one.value]) === text)
    ? filters
    : [...filters, filter]
}
