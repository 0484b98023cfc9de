import type { Query, Sort } from "./BrowseQuery.js"

/** The fields that a query is sorted by, the first one first. */
export const sortsOf = ({ sort = [] }: Pick<Query, "sort">): ReadonlyArray<Sort> => [sort].flat()
