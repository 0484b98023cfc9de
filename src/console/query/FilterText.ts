import { type Filter, type Operator, printValue } from "../../store/browse/Filter.js"

/** The labels of the operators. */
export const operatorLabels: Readonly<Record<Operator, string>> = {
  is: "is",
  isNot: "is not",
  contains: "contains",
  startsWith: "starts with",
  lessThan: "less than",
  atMost: "at most",
  greaterThan: "greater than",
  atLeast: "at least",
  exists: "exists",
  missing: "is missing"
}

/** Prints filters; an empty text is printed as two quotes. */
export const filterText = (filters: ReadonlyArray<Filter>): string =>
  filters
    .map(({ operator, path, value }) =>
      [
        path,
        operatorLabels[operator],
        ...(value === undefined ? [] : [value === "" ? '""' : printValue(value)])
      ].join(" ")
    )
    .join(" and ")
