import type { Sort } from "../../../store/browse/Browse.js"

/** The sort order after a click on a column's header. With `behind`, the column is added after the other sort keys. */
export const toggleSort = (sort: ReadonlyArray<Sort>, path: string, behind: boolean): ReadonlyArray<Sort> => {
  const mine = sort.find((one) => one.path === path)
  const others = sort.filter((one) => one.path !== path)
  if (mine === undefined || (!behind && others.length > 0))
    return [...(behind ? sort : []), { path, descending: false }]
  return mine.descending ? others : sort.map((one) => (one.path === path ? { path, descending: true } : one))
}
