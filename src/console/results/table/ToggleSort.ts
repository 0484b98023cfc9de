import type { Sort } from "../../../store/browse/Browse.js"

/** The order once a column's header was pressed: by that column alone, or by it `behind` those that are sorted by already. */
export const toggleSort = (sort: ReadonlyArray<Sort>, path: string, behind: boolean): ReadonlyArray<Sort> => {
  const mine = sort.find((one) => one.path === path)
  const others = sort.filter((one) => one.path !== path)
  if (mine === undefined || (!behind && others.length > 0))
    return [...(behind ? sort : []), { path, descending: false }]
  return mine.descending ? others : sort.map((one) => (one.path === path ? { path, descending: true } : one))
}
