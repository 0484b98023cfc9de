import { useMemo } from "preact/hooks"
import { defaultColumnLimit, type Route } from "../navigation/Route.js"
import { isWithin, type TableColumns } from "../query/TableColumns.js"
import { arrangeColumns, type ColumnLayout } from "./table/ColumnLayout.js"

/** The columns that the table shows, in their order: those of the route, or else the initial ones. */
export const useVisibleColumns = (
  { all, initial }: TableColumns,
  selected: Route["columns"],
  layout: ColumnLayout
): ReadonlyArray<string> =>
  useMemo(() => {
    const visible =
      selected === "all"
        ? all
        : selected === undefined
          ? initial.slice(0, defaultColumnLimit)
          : all.filter((column) => column === "_id" || selected.some((field) => isWithin(column, field)))
    return arrangeColumns(visible, layout)
  }, [all, initial, JSON.stringify(selected), layout.order, layout.pinned])
