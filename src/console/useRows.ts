import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable
} from "@tanstack/react-table"
import { useMemo } from "preact/hooks"
import type { JsonObject } from "../domain/Document.js"
import { compareValues } from "../domain/JsonOrder.js"
import type { Sort } from "../store/browse/Browse.js"
import { valueOf } from "./Cell.js"

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: {}
})

/** The rows as TanStack sorts them: by the order of JSON values, of which what is missing is the least. */
export const useRows = (
  documents: ReadonlyArray<JsonObject>,
  shown: ReadonlyArray<string>,
  sort: Sort | undefined,
  sorted: boolean
) => {
  // The address may sort by a field that is no column.
  const path = sort?.path
  const columns = useMemo(
    () => (path === undefined || shown.includes(path) ? shown : [...shown, path]),
    [shown, path]
  )
  const definitions = useMemo(
    () =>
      columns.map((column, i) => ({
        // Any text may be the name of a field, the empty one too, which the table takes for none.
        id: String(i),
        accessorFn: (row: JsonObject) => valueOf(row, column),
        sortUndefined: false as const,
        sortFn: (a: { original: JsonObject }, b: { original: JsonObject }) =>
          compareValues(valueOf(a.original, column), valueOf(b.original, column))
      })),
    [columns]
  )
  const data = useMemo(() => [...documents], [documents])
  const sorting = useMemo(() => {
    const place = sort === undefined || sorted ? -1 : columns.indexOf(sort.path)
    return place < 0 ? [] : [{ id: String(place), desc: sort?.descending === true }]
  }, [columns, sort?.path, sort?.descending, sorted])
  const table = useTable({ features, data, columns: definitions as never, state: { sorting } as never })
  return table.getRowModel().rows.map((row: { original: JsonObject }) => row.original)
}
