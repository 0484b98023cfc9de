import type { JsonObject } from "../../../domain/json/Json.js"
import { cellKind, cellText, cellValue, isRounded, roundedNote, truncated } from "../../values/Cell.js"
import type { CellTooltipState } from "../../values/CellTooltip.js"
import { dateText } from "../../values/DateText.js"
import type { RowSelection } from "./RowSelection.js"
import type { ColumnWindow } from "./useColumnWindow.js"
import { isPlainKey, type TableActions } from "./useTableActions.js"

/** One document of the table. */
export const TableRow = (props: {
  readonly row: JsonObject
  readonly index: number
  readonly columns: ReadonlyArray<string>
  readonly columnWindow: ColumnWindow
  /** Columns whose values were not read. */
  readonly unread: ReadonlyArray<string>
  /** The index of the column whose cell is in the tab order, if the cell is in this row. */
  readonly activeColumn: number | undefined
  readonly isOpen: boolean
  readonly selection: RowSelection | undefined
  readonly shortcuts: boolean
  readonly actions: TableActions
  readonly tooltip: CellTooltipState
  readonly onActivate: (column: number) => void
  readonly onOpen: (id: string) => void
  readonly onCellKeyDown: (event: KeyboardEvent, column: number, id: string, text: string) => void
}) => {
  const { actions, activeColumn, columns, index, row, selection, tooltip, columnWindow } = props
  const { shown } = tooltip
  const id = cellText(cellValue(row, "_id"))

  const idCell = (column: string, at: number) => (
    <th key={column} scope="row" aria-colindex={at + 1}>
      {selection === undefined ? null : (
        <input
          type="checkbox"
          class="pick"
          aria-label={`Select ${id}`}
          checked={selection.has(id)}
          onClick={(event) => selection.toggle(id, event.shiftKey)}
        />
      )}
      <button
        type="button"
        class="open"
        id={`open-${id}`}
        onClick={() => props.onOpen(id)}
        aria-label={`Open ${id}`}
        {...tooltip.handlers(index, column, id)}
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
        aria-describedby={shown?.row === index && shown.column === column ? "cell-full" : undefined}
        {...tooltip.handlers(index, column, text, () => props.onActivate(at))}
        onKeyDown={(event) => props.onCellKeyDown(event, at, id, text)}
        onContextMenu={(event) => actions.filter(event, row, column)}
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
        if (event.key.toLowerCase() === "x" && props.shortcuts && isPlainKey(event))
          selection?.toggle(id, event.shiftKey)
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
