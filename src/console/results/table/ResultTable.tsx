import { useVirtualizer } from "@tanstack/react-virtual"
import type { RefObject } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../../../domain/json/Json.js"
import type { Sort } from "../../../store/browse/Browse.js"
import { copyText } from "../../components/Clipboard.js"
import { useStableCallbacks } from "../../components/useStableCallbacks.js"
import type { Density } from "../../page/Settings.js"
import type { FilterTarget } from "../../query/SuggestedFilters.js"
import { cellText, cellValue } from "../../values/Cell.js"
import { CellTooltip, useCellTooltip } from "../../values/CellTooltip.js"
import { type ColumnLayout, columnWidth } from "./ColumnLayout.js"
import { columnType, columnTypes } from "./ColumnTypes.js"
import { estimatedWidth } from "./ColumnWidth.js"
import { rowHeights } from "./Density.js"
import type { RowSelection } from "./RowSelection.js"
import { type RowStep, useRowSteps } from "./RowSteps.js"
import { TableHeader } from "./TableHeader.js"
import { type RowCallbacks, type TableCell, TableRow } from "./TableRow.js"
import { useColumnDrag } from "./useColumnDrag.js"
import { useColumnWindow } from "./useColumnWindow.js"
import { focusWhenDrawn, isPlainKey, useTableActions } from "./useTableActions.js"

const checkboxWidth = 26

/** The height of the rows above or below that are not drawn. */
const RowGap = ({ columns, height }: { readonly columns: number; readonly height: number }) =>
  height > 0 ? (
    <tr class="spacer">
      <td colSpan={columns} style={{ height }} />
    </tr>
  ) : null

/** Documents as a native table, of which only the rows and columns in view are drawn. */
export const ResultTable = (props: {
  readonly caption: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  /** All columns, shown or not. */
  readonly all: ReadonlyArray<string>
  readonly layout: ColumnLayout
  readonly onLayout: (layout: ColumnLayout) => void
  readonly density: Density
  /** Columns whose values were not read. */
  readonly unread: ReadonlyArray<string>
  readonly sort: ReadonlyArray<Sort>
  readonly onSort: (sort: ReadonlyArray<Sort>) => void
  readonly onOpen: (id: string) => void
  readonly onFilter: (target: FilterTarget) => void
  /** The id of the open document. */
  readonly opened: string | undefined
  /** The selected rows; absent if the documents cannot be changed. */
  readonly selection: RowSelection | undefined
  /** Whether single-key shortcuts are active. */
  readonly shortcuts: boolean
  /** Set by the table. */
  readonly step: RefObject<RowStep | null>
}) => {
  const { all, columns, density, layout, onLayout, rows, selection, shortcuts } = props
  const region = useRef<HTMLElement>(null)
  const [active, setActive] = useState({ row: 0, column: 1 })
  const tooltip = useCellTooltip()
  const actions = useTableActions({
    columns,
    all,
    layout,
    onLayout,
    onFilter: props.onFilter,
    onTooltipHide: tooltip.hide
  })
  const columnDrag = useColumnDrag({
    columns,
    onStart: tooltip.hide,
    onResize: actions.resize,
    onMove: actions.move
  })
  const { drag } = columnDrag
  const idExtra = selection === undefined ? 0 : checkboxWidth
  const estimated = useMemo(
    () => columns.map((column) => estimatedWidth(column, rows) + (column === "_id" ? idExtra : 0)),
    [columns, rows, idExtra]
  )
  const widths = useMemo(
    () =>
      columns.map(
        (column, index) =>
          (drag?.column === column ? drag.width : undefined) ??
          columnWidth(layout, column) ??
          estimated[index]!
      ),
    [columns, estimated, layout, drag]
  )
  const pinned = 1 + columns.filter((column, index) => index > 0 && layout.pinned.includes(column)).length
  const columnWindow = useColumnWindow(region, widths, pinned)
  const rowWindow = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeights[density],
    overscan: 4
  })
  useEffect(() => rowWindow.measure(), [density])
  const types = useMemo(() => columns.map((column) => columnType(column, rows)), [columns, rows])
  const drawnRows = rowWindow.getVirtualItems()

  useEffect(() => {
    tooltip.hide()
    setActive({ row: 0, column: 1 })
  }, [columns, rows])

  useRowSteps({
    step: props.step,
    rows,
    opened: props.opened,
    scrollTo: (row) => rowWindow.scrollToIndex(row),
    onOpen: props.onOpen
  })

  const focusCell = (row: number, column: number) => {
    const target = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(1, Math.min(columns.length - 1, column))
    }
    rowWindow.scrollToIndex(target.row)
    columnWindow.scrollTo(target.column)
    setActive(target)
    focusWhenDrawn(`cell-${target.row}-${target.column}`)
  }

  const onCellKeyDown = (event: KeyboardEvent, { column, id, row, text }: TableCell) => {
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      PageDown: [12, 0],
      PageUp: [-12, 0],
      Home: [0, -columns.length],
      End: [0, columns.length]
    }
    const step = steps[event.key]
    const isPlain = isPlainKey(event)
    if (step !== undefined && isPlain) {
      event.preventDefault()
      focusCell(row + step[0], column + step[1])
    } else if (event.key === "Enter") {
      event.preventDefault()
      const copy = document.getElementById("copy-cell")
      if (copy === null) copyText(text, "the cell's text")
      else copy.focus()
    } else if (event.key === "o" && shortcuts && isPlain) {
      props.onOpen(id)
    } else if (event.key === "f" && shortcuts && isPlain) {
      actions.filter(event, rows[row], columns[column]!)
    }
  }
  const rowCallbacks: RowCallbacks = useStableCallbacks({
    activate: (row: number, column: number) => setActive({ row, column }),
    open: props.onOpen,
    filter: actions.filter,
    toggleSelection: (id: string, through: boolean) => selection?.toggle(id, through),
    onCellKeyDown
  })

  return (
    <div class="table-box">
      <section
        class="table-scroll"
        ref={region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Results, scrollable"
        style={{ scrollPaddingLeft: columnWindow.pinnedWidth + 8 }}
        onScroll={tooltip.follow}
      >
        <table
          class={`table ${density}`}
          aria-rowcount={rows.length + 1}
          aria-colcount={columns.length}
          style={{ width: widths.reduce((sum, width) => sum + width, 0) }}
        >
          <caption class="sr-only">{props.caption}</caption>
          <colgroup>
            {columns.map((column, index) => (
              <col key={column} style={{ width: widths[index] }} />
            ))}
          </colgroup>
          <thead>
            <TableHeader
              columns={columns}
              types={types}
              widths={widths}
              columnWindow={columnWindow}
              sort={props.sort}
              onSort={props.onSort}
              selection={selection}
              rowCount={rows.length}
              shortcuts={shortcuts}
              actions={actions}
              columnDrag={columnDrag}
              tooltip={tooltip}
            />
          </thead>
          <tbody>
            <RowGap columns={columns.length} height={drawnRows[0]?.start ?? 0} />
            {drawnRows.map(({ index }) => {
              const row = rows[index]!
              const id = cellText(cellValue(row, "_id"))
              return (
                <TableRow
                  key={id}
                  row={row}
                  index={index}
                  columns={columns}
                  columnWindow={columnWindow}
                  unread={props.unread}
                  activeColumn={active.row === index ? active.column : undefined}
                  describedColumn={tooltip.shown?.row === index ? tooltip.shown.column : undefined}
                  isOpen={props.opened === id}
                  isSelected={selection?.has(id)}
                  shortcuts={shortcuts}
                  callbacks={rowCallbacks}
                  tooltipHandlers={tooltip.handlers}
                />
              )
            })}
            <RowGap
              columns={columns.length}
              height={rowWindow.getTotalSize() - (drawnRows.at(-1)?.end ?? 0)}
            />
          </tbody>
        </table>
      </section>
      {/* The descriptions of the headers. */}
      <div hidden>
        {Object.keys(columnTypes).map((type) => (
          <span key={type} id={`type-${type}`}>
            {type}
          </span>
        ))}
      </div>
      {tooltip.shown === undefined ? null : (
        <CellTooltip
          shown={tooltip.shown}
          onStay={tooltip.stay}
          onLeave={tooltip.leave}
          onDismiss={tooltip.dismiss}
        />
      )}
    </div>
  )
}
