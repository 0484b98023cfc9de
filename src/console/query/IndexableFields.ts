import type { Route } from "../navigation/Route.js"

/** The fields of a query that an index could have. Fields of the store are not indexed by the console. */
export const indexableFields = ({ filters, sort }: Pick<Route, "filters" | "sort">): ReadonlyArray<string> =>
  [...new Set([...filters, ...sort].map(({ path }) => path))].filter((path) => !path.startsWith("_"))
