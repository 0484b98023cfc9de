import type { RefObject } from "preact"
import { useLayoutEffect } from "preact/hooks"
import type { JsonObject } from "../../../domain/json/Json.js"
import { announce } from "../../components/Announcer.js"
import { cellText, cellValue } from "../../values/Cell.js"
import { focusWhenDrawn } from "./useTableActions.js"

/** Goes to the next (1) or the previous (-1) row. If a document is open, opens the document of that row. */
export type RowStep = (by: 1 | -1) => void

/** The index of the row that has the focus. */
const focusedRow = (): number | undefined => {
  const row = document.activeElement?.closest(".table tbody tr")?.getAttribute("aria-rowindex")
  return row == null ? undefined : Number(row) - 2
}

/** Lets the page go from row to row, also to rows that are not drawn. */
export const useRowSteps = (options: {
  readonly step: RefObject<RowStep | null>
  readonly rows: ReadonlyArray<JsonObject>
  /** The id of the open document. */
  readonly opened: string | undefined
  readonly scrollTo: (row: number) => void
  readonly onOpen: (id: string) => void
}) => {
  const { opened, rows, step } = options
  const idOf = (row: JsonObject) => cellText(cellValue(row, "_id"))
  useLayoutEffect(() => {
    step.current = (by) => {
      const from = opened === undefined ? focusedRow() : rows.findIndex((row) => idOf(row) === opened)
      const to = from === undefined ? 0 : from < 0 ? -1 : from + by
      const row = rows[to]
      if (row === undefined) {
        if (opened !== undefined) announce(`There is no ${by > 0 ? "next" : "previous"} row in the table.`)
        return
      }
      options.scrollTo(to)
      if (opened !== undefined) return options.onOpen(idOf(row))
      const button = `open-${idOf(row)}`
      const drawn = document.getElementById(button)
      // Another key press may follow before the next frame.
      if (drawn === null) focusWhenDrawn(button)
      else drawn.focus()
    }
    return () => {
      step.current = null
    }
  })
}
