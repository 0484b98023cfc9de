import type { Query, Sort } from "./BrowseQuery.js"

/** The sort fields of a query as a list, in the order of their precedence. */
export const sortsOf = ({ sort = [] }: Pick<Query, "sort">): ReadonlyArray<Sort> => [sort].flat()
