import { memo } from "preact/compat"
import type { JsonObject } from "../../../domain/json/Json.js"
import { cellKind, cellText, cellValue, isRounded, roundedNote, truncated } from "../../values/Cell.js"
import type { CellTooltipState } from "../../values/CellTooltip.js"
import { dateText } from "../../values/DateText.js"
import type { ColumnWindow } from "./useColumnWindow.js"
import { isPlainKey } from "./useTableActions.js"

/** What the table does when a row asks for it. */
export interface RowCallbacks {
  readonly activate: (row: number, column: number) => void
  readonly open: (id: string) => void
  readonly filter: (event: Event, row: JsonObject, column: string) => void
  readonly toggleSelection: (id: string, through: boolean) => void
  readonly onCellKeyDown: (event: KeyboardEvent, cell: TableCell) => void
}

/** A cell by its place, and what it shows. */
export interface TableCell {
  readonly row: number
  readonly column: number
  readonly id: string
  readonly text: string
}

/** One document of the table: drawn again only if one of its properties is another, not while the table scrolls. */
export const TableRow = memo(
  (props: {
    readonly row: JsonObject
    readonly index: number
    readonly columns: ReadonlyArray<string>
    readonly columnWindow: ColumnWindow
    /** Columns whose values were not read. */
    readonly unread: ReadonlyArray<string>
    /** The index of the column whose cell is in the tab order, if the cell is in this row. */
    readonly activeColumn: number | undefined
    /** The column whose cell the tooltip describes, if the cell is in this row. */
    readonly describedColumn: string | undefined
    readonly isOpen: boolean
    /** Absent if rows cannot be selected. */
    readonly isSelected: boolean | undefined
    readonly shortcuts: boolean
    readonly callbacks: RowCallbacks
    readonly tooltipHandlers: CellTooltipState["handlers"]
  }) => {
    const { activeColumn, callbacks, columns, columnWindow, describedColumn, index, isSelected, row } = props
    const id = cellText(cellValue(row, "_id"))

    const idCell = (column: string, at: number) => (
      <th key={column} scope="row" aria-colindex={at + 1}>
        {isSelected === undefined ? null : (
          <input
            type="checkbox"
            class="pick"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onClick={(event) => callbacks.toggleSelection(id, event.shiftKey)}
          />
        )}
        <button
          type="button"
          class="open"
          id={`open-${id}`}
          onClick={() => callbacks.open(id)}
          aria-label={`Open ${id}`}
          {...props.tooltipHandlers(index, column, id)}
        >
          <bdi>{truncated(id)}</bdi>
        </button>
      </th>
    )

    const cell = (column: string, at: number) => {
      const value = cellValue(row, column)
      const missing = value === undefined && props.unread.includes(column) ? "not read" : ""
      const text = isRounded(value) ? `${cellText(value)} ${roundedNote}` : cellText(value) || missing
      const position = columnWindow.cellPosition(at)
      return (
        <td
          key={column}
          style={position.style}
          id={`cell-${index}-${at}`}
          aria-colindex={at + 1}
          class={`cell ${cellKind(value)} ${position.class}`}
          tabIndex={activeColumn === at ? 0 : -1}
          aria-describedby={describedColumn === column ? "cell-full" : undefined}
          {...props.tooltipHandlers(index, column, text, () => callbacks.activate(index, at))}
          onKeyDown={(event) => callbacks.onCellKeyDown(event, { row: index, column: at, id, text })}
          onContextMenu={(event) => callbacks.filter(event, row, column)}
        >
          {isRounded(value) ? <span aria-hidden="true">≈ </span> : null}
          <bdi>{dateText(value) ?? truncated(isRounded(value) ? cellText(value) : text)}</bdi>
        </td>
      )
    }

    return (
      <tr
        aria-rowindex={index + 2}
        class={props.isOpen ? "opened" : undefined}
        onKeyDown={(event) => {
          if (
            event.key.toLowerCase() === "x" &&
            props.shortcuts &&
            isSelected !== undefined &&
            isPlainKey(event)
          )
            callbacks.toggleSelection(id, event.shiftKey)
        }}
      >
        {columnWindow.drawn.map((at) => {
          const column = columns[at]!
          return column === "_id" ? idCell(column, at) : [columnWindow.gapBefore(at), cell(column, at)]
        })}
        {columnWindow.gapAfter}
      </tr>
    )
  }
)
