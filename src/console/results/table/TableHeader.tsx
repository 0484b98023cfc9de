import type { Sort } from "../../../store/browse/Browse.js"
import { Icon } from "../../components/Icon.js"
import { truncated } from "../../values/Cell.js"
import type { CellTooltipState } from "../../values/CellTooltip.js"
import { type ColumnType, columnTypes } from "./ColumnTypes.js"
import type { RowSelection } from "./RowSelection.js"
import { toggleSort } from "./ToggleSort.js"
import type { useColumnDrag } from "./useColumnDrag.js"
import type { ColumnWindow } from "./useColumnWindow.js"
import { focusWhenDrawn, isPlainKey, type TableActions } from "./useTableActions.js"

/** Pixels by which a key changes a column's width. */
const widthStep = 16

/** The headers: they sort, filter, pin, move and resize their column. */
export const TableHeader = (props: {
  readonly columns: ReadonlyArray<string>
  readonly types: ReadonlyArray<ColumnType | undefined>
  readonly widths: ReadonlyArray<number>
  readonly columnWindow: ColumnWindow
  readonly sort: ReadonlyArray<Sort>
  readonly onSort: (sort: ReadonlyArray<Sort>) => void
  readonly selection: RowSelection | undefined
  readonly rowCount: number
  readonly shortcuts: boolean
  readonly actions: TableActions
  readonly columnDrag: ReturnType<typeof useColumnDrag>
  readonly tooltip: CellTooltipState
}) => {
  const {
    actions,
    columnDrag,
    columns,
    rowCount,
    selection,
    shortcuts,
    sort,
    tooltip,
    types,
    widths,
    columnWindow
  } = props
  const { drag } = columnDrag

  const onKeyDown = (event: KeyboardEvent, column: string, index: number) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    const isPlain = isPlainKey(event)
    if (event.key === "f" && shortcuts && isPlain) actions.filter(event, undefined, column)
    // Not every browser reports the modifiers of a click that a key causes.
    else if (event.key === "Enter" && event.shiftKey) props.onSort(toggleSort(sort, column, true))
    else if (step !== 0 && event.shiftKey && event.ctrlKey) {
      const moved = actions.move(column, columns[index + step])
      if (moved !== undefined) {
        columnWindow.scrollTo(moved)
        focusWhenDrawn(`head-${moved}`)
      }
    } else if (step !== 0 && event.shiftKey && isPlain)
      actions.resize(column, widths[index]! + step * widthStep)
    else if (event.key === "p" && shortcuts && isPlain && index > 0) actions.togglePin(column)
    else return
    event.preventDefault()
  }

  return (
    <tr aria-rowindex={1}>
      {columnWindow.drawn.map((index) => {
        const column = columns[index]!
        const type = types[index]
        const sortIndex = sort.findIndex(({ path }) => path === column)
        const order = sort[sortIndex]?.descending ? "descending" : "ascending"
        return [
          columnWindow.gapBefore(index),
          <th
            key={column}
            data-at={index}
            {...columnWindow.cellPosition(index)}
            data-to={drag?.to === column && drag.column !== column ? "true" : undefined}
            scope="col"
            aria-colindex={index + 1}
            aria-sort={sortIndex === 0 ? order : undefined}
          >
            {column !== "_id" || selection === undefined || rowCount === 0 ? null : (
              <input
                type="checkbox"
                class="pick"
                aria-label="Select all rows"
                checked={selection.ids.length === rowCount}
                indeterminate={selection.ids.length > 0 && selection.ids.length < rowCount}
                onClick={() => selection.selectAll(selection.ids.length < rowCount)}
              />
            )}
            <button
              type="button"
              class="sort"
              id={`head-${index}`}
              data-type={type}
              aria-describedby={type === undefined ? undefined : `type-${type}`}
              {...tooltip.handlers(-1, column, column)}
              {...columnDrag.headerHandlers(column)}
              onKeyDown={(event) => onKeyDown(event, column, index)}
              onContextMenu={(event) => actions.filter(event, undefined, column)}
              onClick={(event) => {
                if (!columnDrag.endsDrag(event)) props.onSort(toggleSort(sort, column, event.shiftKey))
              }}
            >
              <bdi class="sort-name">{truncated(column)}</bdi>
              {sortIndex < 0 ? null : <Icon name={order === "descending" ? "down" : "up"} />}
              {sortIndex < 0 || sort.length === 1 ? null : (
                <span class="sort-place">
                  {sortIndex + 1}
                  {sortIndex === 0 ? null : <span class="sr-only"> {order}</span>}
                </span>
              )}
              {/* A style shows the abbreviation, so that it is not part of the button's name. */}
              {type === undefined ? null : <span class="sort-type" data-text={columnTypes[type]} />}
            </button>
            <span class="edge" aria-hidden="true" {...columnDrag.edgeHandlers(column)} />
          </th>
        ]
      })}
      {columnWindow.gapAfter}
    </tr>
  )
}
