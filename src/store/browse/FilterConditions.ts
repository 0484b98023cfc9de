import type { AnyWhere } from "../../domain/query/Query.js"
import type { Filter, Operator } from "./Filter.js"

/** Filters divided into a condition of the query language, and filters that no condition can express. */
export interface SplitFilters {
  readonly where: AnyWhere | undefined
  readonly rest: ReadonlyArray<Filter>
}

/** Operators of the query language, which cannot be names of fields there. */
const conditionWords: ReadonlyArray<string> = ["and", "or", "not"]

/** The maximum length of a path in a condition, in characters. */
const longest = 512

const comparisons: ReadonlyArray<Operator> = ["is", "isNot", "lessThan", "atMost", "greaterThan", "atLeast"]

/**
 * Whether a path means the same in a condition and in a filter. A dotted path of a filter also descends into lists; that
 * of a condition does not.
 */
export const isMemberName = (path: string): boolean =>
  path !== "" && path.length <= longest && !path.includes(".") && !conditionWords.includes(path)

/** The condition that matches the same documents as a filter; undefined if there is none. */
const conditionOf = ({ operator, path, value = null }: Filter): AnyWhere | undefined => {
  if (!isMemberName(path)) return undefined
  if (operator === "exists" || operator === "missing") return { [path]: { exists: operator === "exists" } }
  if (!comparisons.includes(operator)) return undefined
  const isOrdered = typeof value === "number" || typeof value === "string"
  return operator === "is" || operator === "isNot" || isOrdered
    ? { [path]: { [operator]: value } }
    : undefined
}

/** Divides filters: those that an index may evaluate become a condition. */
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
