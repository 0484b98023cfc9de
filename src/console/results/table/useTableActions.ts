import type { JsonObject } from "../../../domain/json/Json.js"
import { announce } from "../../components/Announcer.js"
import type { FilterTarget } from "../../query/SuggestedFilters.js"
import { cellValue } from "../../values/Cell.js"
import { type ColumnLayout, columnWidth, moveColumn, resizeColumn, togglePin } from "./ColumnLayout.js"

/** Focuses a header or a cell once it is drawn. */
export const focusWhenDrawn = (id: string): void => {
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(id)?.focus()))
}

export const isPlainKey = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  !ctrlKey && !metaKey && !altKey

/** Changes of the column layout, each announced, and the request for a cell's filters. */
export const useTableActions = (options: {
  readonly columns: ReadonlyArray<string>
  /** All columns, shown or not. */
  readonly all: ReadonlyArray<string>
  readonly layout: ColumnLayout
  readonly onLayout: (layout: ColumnLayout) => void
  readonly onFilter: (target: FilterTarget) => void
  readonly onTooltipHide: () => void
}) => {
  const { all, columns, layout, onLayout } = options
  const isPinned = (column: string) => layout.pinned.includes(column)
  return {
    /** Moves a column to the place of another one. Returns its new index, or undefined if it did not move. */
    move: (column: string, to: string | undefined): number | undefined => {
      if (to === undefined || to === column) return undefined
      const next = moveColumn(layout, all, column, to)
      if (next === layout || isPinned(column) !== isPinned(to)) return undefined
      onLayout(next)
      const index = columns.indexOf(to)
      announce(`${column} is column ${index + 1} of ${columns.length}.`)
      return index
    },
    /** Sets the width of a column, or resets it. */
    resize: (column: string, width: number | undefined): void => {
      const next = resizeColumn(layout, column, width)
      onLayout(next)
      const set = columnWidth(next, column)
      announce(`${column} ${set === undefined ? "fits its values" : `is ${set} pixels wide`}.`)
    },
    togglePin: (column: string): void => {
      const next = togglePin(layout, column)
      onLayout(next)
      announce(`${column} is ${next.pinned.includes(column) ? "pinned" : "not pinned"}.`)
    },
    /** Offers the filters of a cell, or of a header if no row is given. */
    filter: (event: Event, row: JsonObject | undefined, path: string): void => {
      // The browser's own menu copies the selected text.
      if (event instanceof MouseEvent && (event.shiftKey || getSelection()?.isCollapsed === false)) return
      event.preventDefault()
      options.onTooltipHide()
      options.onFilter({ path, value: row && cellValue(row, path) })
    }
  }
}

export type TableActions = ReturnType<typeof useTableActions>
