import type { AnyWhere } from "../../domain/query/Query.js"
import type { Filter, Operator } from "./Filter.js"

/** Filters as a condition of the collection, and those that no condition expresses. */
export interface SplitFilters {
  readonly where: AnyWhere | undefined
  readonly rest: ReadonlyArray<Filter>
}

/** Names of conditions, which are not names of fields there. */
const conditionWords: ReadonlyArray<string> = ["and", "or", "not"]

/** The longest path of a condition, in characters. */
const longest = 512

const comparisons: ReadonlyArray<Operator> = ["is", "isNot", "lessThan", "atMost", "greaterThan", "atLeast"]

/** A member that a condition names as a filter does. The dots of a filter lead into lists too, those of a condition do not. */
export const isMemberName = (path: string): boolean =>
  path !== "" && path.length <= longest && !path.includes(".") && !conditionWords.includes(path)

/** A filter as a condition that every document satisfies that the filter finds, and no other one. */
const conditionOf = ({ operator, path, value = null }: Filter): AnyWhere | undefined => {
  if (!isMemberName(path)) return undefined
  if (operator === "exists" || operator === "missing") return { [path]: { exists: operator === "exists" } }
  if (!comparisons.includes(operator)) return undefined
  const isOrdered = typeof value === "number" || typeof value === "string"
  return operator === "is" || operator === "isNot" || isOrdered
    ? { [path]: { [operator]: value } }
    : undefined
}

/** Divides filters: what the store's indexes can answer is a condition. */
export const splitFilters = (filters: ReadonlyArray<Filter>): SplitFilters => {
  const all: Array<AnyWhere> = []
  const rest: Array<Filter> = []
  for (const filter of filters) {
    const condition = conditionOf(filter)
    if (condition === undefined) rest.push(filter)
    else all.push(condition)
  }
  return { where: all.length === 0 ? undefined : { and: all }, rest }
}
