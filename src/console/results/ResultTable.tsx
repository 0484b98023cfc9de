import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../../domain/json/Json.js"
import type { Sort } from "../../store/browse/Browse.js"
import { announce } from "../components/Announcer.js"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import type { FilterTarget } from "../query/SuggestedFilters.js"
import { cellKind, cellText, cellValue, isRounded, roundedNote, truncated } from "../values/Cell.js"
import { CellTooltip, useCellTooltip } from "../values/CellTooltip.js"
import { type ColumnLayout, columnWidth, moveColumn, resizeColumn, togglePin } from "./ColumnLayout.js"
import type { RowSelection } from "./RowSelection.js"
import { toggleSort } from "./ToggleSort.js"

const rowHeight = 38

const widthOf = (column: string, rows: ReadonlyArray<JsonObject>): number => {
  let longest = column.length + 4
  // Digits are as wide as the widest letters.
  for (const row of rows.slice(0, 60)) {
    const value = cellValue(row, column)
    const wide = typeof value === "number" ? 1.15 : 1
    longest = Math.max(longest, cellText(value).length * wide + (isRounded(value) ? 2 : 0))
  }
  return Math.round(Math.min(Math.max(longest, 6), column === "_id" ? 30 : 38) * 7.6) + 30
}

/** The columns drawn: the first ones, which stay in view, and a range of the others. */
const withFirst =
  (first: number) =>
  (range: Range): Array<number> => {
    const drawn = defaultRangeExtractor(range).filter((at) => at >= first)
    return [...Array.from({ length: Math.min(first, range.count) }, (_, at) => at), ...drawn]
  }

/** How many pixels the box takes that chooses a row. */
const boxWidth = 26

/** How many pixels a key makes a column wider. */
const widthStep = 16

/** How far the pointer goes before a header is moved, and not pressed. */
const dragged = 8

/** The place of columns that are not drawn. */
const gap = (key: string, columns: number) =>
  columns > 0 ? <td key={key} class="gap" colSpan={columns} aria-hidden="true" /> : null

/** Documents as a native table whose rows and columns are drawn as they come into view. */
export const ResultTable = (props: {
  readonly caption: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  /** All columns that there are, shown or not. */
  readonly all: ReadonlyArray<string>
  readonly layout: ColumnLayout
  readonly onLayout: (layout: ColumnLayout) => void
  /** Columns whose values were not read. */
  readonly unread: ReadonlyArray<string>
  readonly sort: ReadonlyArray<Sort>
  readonly onSort: (sort: ReadonlyArray<Sort>) => void
  readonly onOpen: (id: string) => void
  /** Asks which filter of a cell, or of a header, is wanted. */
  readonly onFilter: (of: FilterTarget) => void
  readonly opened: string | undefined
  /** The rows that are chosen; absent where none can be changed. */
  readonly selection: RowSelection | undefined
  /** Whether single keys act. */
  readonly shortcuts: boolean
}) => {
  const { columns, layout, rows, selection, sort } = props
  const region = useRef<HTMLElement>(null)
  const [active, setActive] = useState({ row: 0, column: 1 })
  const { dismissed, follow, hide, leave, show, shown, stay } = useCellTooltip()
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    overscan: 8
  })
  /** What the pointer does to a header. */
  const [drag, setDrag] = useState<
    { readonly column: string; readonly width?: number; readonly to?: string } | undefined
  >(undefined)
  const wasDragged = useRef(false)
  const box = selection === undefined ? 0 : boxWidth
  const needed = useMemo(
    () => columns.map((column) => widthOf(column, rows) + (column === "_id" ? box : 0)),
    [columns, rows, box]
  )
  const widths = useMemo(
    () =>
      columns.map(
        (column, at) =>
          (drag?.column === column ? drag.width : undefined) ?? columnWidth(layout, column) ?? needed[at]!
      ),
    [columns, needed, layout, drag]
  )
  /** How many columns stay in view. */
  const fixed = 1 + columns.filter((column, at) => at > 0 && layout.pinned.includes(column)).length
  const leftOf = (at: number) => widths.slice(0, at).reduce((sum, width) => sum + width, 0)
  /** What keeps a cell in view. */
  const held = (at: number) =>
    at > 0 && at < fixed ? { class: "pinned", style: { left: leftOf(at) } } : { class: "", style: undefined }
  const across = useVirtualizer<HTMLElement, HTMLTableCellElement>({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => region.current,
    estimateSize: (at) => widths[at]!,
    overscan: 4,
    scrollPaddingStart: leftOf(fixed),
    rangeExtractor: withFirst(fixed)
  })
  useEffect(() => across.measure(), [widths])
  const drawn = across.getVirtualItems().map(({ index }) => index)
  const [skipped, last] = [(drawn[fixed] ?? fixed) - fixed, columns.length - 1 - (drawn.at(-1) ?? 0)]
  const items = virtual.getVirtualItems()
  const before = items[0]?.start ?? 0
  const after = virtual.getTotalSize() - (items[items.length - 1]?.end ?? 0)

  useEffect(() => {
    hide()
    setActive({ row: 0, column: 1 })
  }, [columns, rows])

  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(1, Math.min(columns.length - 1, column))
    }
    virtual.scrollToIndex(next.row)
    across.scrollToIndex(next.column)
    setActive(next)
    requestAnimationFrame(() =>
      requestAnimationFrame(() => document.getElementById(`cell-${next.row}-${next.column}`)?.focus())
    )
  }

  /** Shows the whole text of what has the pointer or the focus, and does not show it whole itself. */
  const tipped = (row: number, name: string, text: string, place?: number) => ({
    onFocus: (event: { readonly currentTarget: HTMLElement }) => {
      if (place !== undefined) setActive({ row, column: place })
      if (!dismissed.current) show(event.currentTarget, row, name, text)
      dismissed.current = false
    },
    onBlur: leave,
    onMouseEnter: (event: { readonly currentTarget: HTMLElement }) => {
      stay()
      show(event.currentTarget, row, name, text)
    },
    onMouseLeave: leave
  })

  /** Whether a key asks for the filters of what has the focus. */
  const asksFilter = (event: KeyboardEvent) =>
    event.key === "f" && props.shortcuts && !event.ctrlKey && !event.metaKey && !event.altKey

  const filterBy = (event: Event, row: JsonObject | undefined, path: string) => {
    // The browser's own menu copies what is selected.
    if (event instanceof MouseEvent && (event.shiftKey || getSelection()?.isCollapsed === false)) return
    event.preventDefault()
    hide()
    props.onFilter({ path, value: row && cellValue(row, path) })
  }

  /** Moves a column to where another one is; `by` keys, the focus goes with it. */
  const moveTo = (column: string, to: string | undefined, by?: "keys") => {
    if (to === undefined || to === column) return
    const next = moveColumn(layout, props.all, column, to)
    const isHeld = (one: string) => layout.pinned.includes(one)
    if (next === layout || isHeld(column) !== isHeld(to)) return
    props.onLayout(next)
    const at = columns.indexOf(to)
    announce(`${column} is column ${at + 1} of ${columns.length}.`)
    if (by === undefined) return
    across.scrollToIndex(at)
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(`head-${at}`)?.focus()))
  }

  const resize = (column: string, width: number | undefined) => {
    const next = resizeColumn(layout, column, width)
    props.onLayout(next)
    const wide = columnWidth(next, column)
    announce(`${column} ${wide === undefined ? "fits its values" : `is ${wide} pixels wide`}.`)
  }

  const headKeys = (event: KeyboardEvent, column: string, at: number) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey
    if (asksFilter(event)) filterBy(event, undefined, column)
    // Not every browser tells the modifiers of a click by a key.
    else if (event.key === "Enter" && event.shiftKey) props.onSort(toggleSort(sort, column, true))
    else if (by !== 0 && event.shiftKey && event.ctrlKey) moveTo(column, columns[at + by], "keys")
    else if (by !== 0 && event.shiftKey && isPlain) resize(column, widths[at]! + by * widthStep)
    else if (event.key === "p" && props.shortcuts && isPlain && at > 0) {
      const next = togglePin(layout, column)
      props.onLayout(next)
      announce(`${column} is ${next.pinned.includes(column) ? "pinned" : "not pinned"}.`)
    } else return
    event.preventDefault()
  }

  /** A pointer that drags the edge of a header. */
  const edge = (column: string) => ({
    onPointerDown: (event: PointerEvent) => {
      const handle = event.currentTarget as HTMLElement
      const begin = handle.parentElement!.getBoundingClientRect().width
      const at = event.clientX
      const sign = getComputedStyle(handle).direction === "rtl" ? -1 : 1
      const widthAt = ({ clientX }: PointerEvent) => Math.max(begin + sign * (clientX - at), 1)
      event.preventDefault()
      handle.setPointerCapture(event.pointerId)
      handle.onpointermove = (now) => setDrag({ column, width: widthAt(now) })
      handle.onpointerup = (now) => {
        if (now.clientX !== at) resize(column, widthAt(now))
      }
      handle.onlostpointercapture = () => {
        handle.onpointermove = handle.onpointerup = null
        setDrag(undefined)
      }
    },
    onDblClick: () => resize(column, undefined)
  })

  /** A pointer that drags a header to another place. */
  const grip = (column: string) => ({
    onPointerDown: (event: PointerEvent) => {
      wasDragged.current = false
      if (event.pointerType !== "mouse" || event.button !== 0 || column === "_id") return
      const button = event.currentTarget as HTMLElement
      const begin = event.clientX
      const toOf = ({ clientX, clientY }: PointerEvent) => {
        const over = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>("th[data-at]")
        return over === null || over === undefined ? undefined : columns[Number(over.dataset["at"])]
      }
      button.setPointerCapture(event.pointerId)
      button.onpointermove = (now) => {
        if (!wasDragged.current && Math.abs(now.clientX - begin) < dragged) return
        wasDragged.current = true
        hide()
        const to = toOf(now)
        setDrag(to === undefined ? { column } : { column, to })
      }
      const end = () => {
        button.onpointermove = button.onpointerup = null
        setDrag(undefined)
      }
      button.onpointerup = (now) => {
        // A header that is moved does not hear that it lost the pointer.
        end()
        if (wasDragged.current) moveTo(column, toOf(now))
      }
      button.onlostpointercapture = end
    }
  })

  const keys = (event: KeyboardEvent, row: number, column: number, id: string, text: string) => {
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
    if (step !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      move(row + step[0], column + step[1])
    } else if (event.key === "Enter") {
      event.preventDefault()
      const copy = document.getElementById("copy-cell")
      if (copy === null) copyText(text, "the cell's text")
      else copy.focus()
    } else if (event.key === "o" && props.shortcuts && !event.ctrlKey && !event.metaKey && !event.altKey) {
      props.onOpen(id)
    } else if (asksFilter(event)) {
      filterBy(event, rows[row], columns[column]!)
    }
  }

  return (
    <div class="table-box">
      <section
        class="table-scroll"
        ref={region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Results, scrollable"
        style={{ scrollPaddingLeft: leftOf(fixed) + 8 }}
        onScroll={follow}
      >
        <table
          class="table"
          aria-rowcount={rows.length + 1}
          aria-colcount={columns.length}
          style={{ width: widths.reduce((sum, w) => sum + w, 0) }}
        >
          <caption class="sr-only">{props.caption}</caption>
          <colgroup>
            {columns.map((column, i) => (
              <col key={column} style={{ width: widths[i] }} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {drawn.map((at) => {
                const column = columns[at]!
                const by = sort.findIndex(({ path }) => path === column)
                const order = sort[by]?.descending ? "descending" : "ascending"
                return [
                  at === drawn[fixed] ? gap("before", skipped) : null,
                  <th
                    key={column}
                    data-at={at}
                    {...held(at)}
                    data-to={drag?.to === column && drag.column !== column ? "true" : undefined}
                    scope="col"
                    aria-colindex={at + 1}
                    aria-sort={by === 0 ? order : undefined}
                  >
                    {column !== "_id" || selection === undefined || rows.length === 0 ? null : (
                      <input
                        type="checkbox"
                        class="pick"
                        aria-label="Select all rows"
                        checked={selection.ids.length === rows.length}
                        indeterminate={selection.ids.length > 0 && selection.ids.length < rows.length}
                        onClick={() => selection.selectAll(selection.ids.length < rows.length)}
                      />
                    )}
                    <button
                      type="button"
                      class="sort"
                      id={`head-${at}`}
                      {...tipped(-1, column, column)}
                      {...grip(column)}
                      onKeyDown={(event) => headKeys(event, column, at)}
                      onContextMenu={(event) => filterBy(event, undefined, column)}
                      onClick={(event) => {
                        // What ends a drag is no press.
                        if (wasDragged.current && event.detail > 0) wasDragged.current = false
                        else props.onSort(toggleSort(sort, column, event.shiftKey))
                      }}
                    >
                      <bdi class="sort-name">{truncated(column)}</bdi>
                      {by < 0 ? null : <Icon name={order === "descending" ? "down" : "up"} />}
                      {by < 0 || sort.length === 1 ? null : (
                        <span class="sort-place">
                          {by + 1}
                          {by === 0 ? null : <span class="sr-only"> {order}</span>}
                        </span>
                      )}
                    </button>
                    <span class="edge" aria-hidden="true" {...edge(column)} />
                  </th>
                ]
              })}
              {gap("after", last)}
            </tr>
          </thead>
          <tbody>
            {before > 0 ? (
              <tr class="spacer">
                <td colSpan={columns.length} style={{ height: before }} />
              </tr>
            ) : null}
            {items.map((item) => {
              const row = rows[item.index]!
              const id = cellText(cellValue(row, "_id"))
              return (
                <tr
                  key={id}
                  aria-rowindex={item.index + 2}
                  class={props.opened === id ? "opened" : undefined}
                  onKeyDown={(event) => {
                    if (event.key.toLowerCase() !== "x" || !props.shortcuts || selection === undefined) return
                    if (!event.ctrlKey && !event.metaKey && !event.altKey)
                      selection.toggle(id, event.shiftKey)
                  }}
                >
                  {drawn.map((i) => {
                    const column = columns[i]!
                    const value = cellValue(row, column)
                    const missing = value === undefined && props.unread.includes(column) ? "not read" : ""
                    const text = isRounded(value)
                      ? `${cellText(value)} ${roundedNote}`
                      : cellText(value) || missing
                    if (column === "_id") {
                      return (
                        <th key={column} scope="row" aria-colindex={i + 1}>
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
                            {...tipped(item.index, column, id)}
                          >
                            <bdi>{truncated(id)}</bdi>
                          </button>
                        </th>
                      )
                    }
                    return [
                      i === drawn[fixed] ? gap("before", skipped) : null,
                      <td
                        key={column}
                        style={held(i).style}
                        id={`cell-${item.index}-${i}`}
                        aria-colindex={i + 1}
                        class={`cell ${cellKind(value)} ${held(i).class}`}
                        tabIndex={active.row === item.index && active.column === i ? 0 : -1}
                        aria-describedby={
                          shown?.row === item.index && shown.column === column ? "cell-full" : undefined
                        }
                        {...tipped(item.index, column, text, i)}
                        onKeyDown={(event) => keys(event, item.index, i, id, text)}
                        onContextMenu={(event) => filterBy(event, row, column)}
                      >
                        {isRounded(value) ? <span aria-hidden="true">≈ </span> : null}
                        <bdi>{truncated(isRounded(value) ? cellText(value) : text)}</bdi>
                      </td>
                    ]
                  })}
                  {gap("after", last)}
                </tr>
              )
            })}
            {after > 0 ? (
              <tr class="spacer">
                <td colSpan={columns.length} style={{ height: after }} />
              </tr>
            ) : null}
          </tbody>
        </table>
      </section>
      {shown === undefined ? null : (
        <CellTooltip
          shown={shown}
          onStay={stay}
          onLeave={leave}
          onDismiss={() => {
            hide()
            if (document.activeElement?.id !== "copy-cell") return
            dismissed.current = true
            shown.of.focus()
          }}
        />
      )}
    </div>
  )
}
