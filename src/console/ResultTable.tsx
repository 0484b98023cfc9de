import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../domain/Document.js"
import type { Sort } from "../store/browse/Browse.js"
import { cellText, clipped, isRounded, kindOf, rounded, valueOf } from "./Cell.js"
import type { FilterPlace } from "./CellFilters.js"
import { CellTip, useTip } from "./CellTip.js"
import { copyText } from "./Clipboard.js"
import { Icon } from "./Icon.js"

const rowHeight = 38

const widthOf = (column: string, rows: ReadonlyArray<JsonObject>): number => {
  let longest = column.length + 4
  // Digits are as wide as the widest letters.
  for (const row of rows.slice(0, 60)) {
    const value = valueOf(row, column)
    const wide = typeof value === "number" ? 1.15 : 1
    longest = Math.max(longest, cellText(value).length * wide + (isRounded(value) ? 2 : 0))
  }
  return Math.round(Math.min(Math.max(longest, 6), column === "_id" ? 30 : 38) * 7.6) + 30
}

/** The columns drawn: the first one, which stays in view, and a range of the others. */
const withFirst = (range: Range): Array<number> => {
  const drawn = defaultRangeExtractor(range)
  return drawn[0] === 0 ? drawn : [0, ...drawn]
}

/** The place of columns that are not drawn. */
const gap = (key: string, columns: number) =>
  columns > 0 ? <td key={key} class="gap" colSpan={columns} aria-hidden="true" /> : null

/** Documents as a native table whose rows and columns are drawn as they come into view. */
export const ResultTable = (props: {
  readonly caption: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  /** Columns whose values were not read. */
  readonly unread: ReadonlyArray<string>
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort | undefined) => void
  readonly onOpen: (id: string) => void
  /** Asks which filter of a cell, or of a header, is wanted. */
  readonly onFilter: (of: FilterPlace) => void
  readonly opened: string | undefined
  /** Whether single keys act. */
  readonly shortcuts: boolean
}) => {
  const { columns, rows, sort } = props
  const region = useRef<HTMLElement>(null)
  const [active, setActive] = useState({ row: 0, column: 1 })
  const { dismissed, follow, hide, leave, show, shown, stay } = useTip()
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    overscan: 8
  })
  const widths = useMemo(() => columns.map((column) => widthOf(column, rows)), [columns, rows])
  const across = useVirtualizer<HTMLElement, HTMLTableCellElement>({
    horizontal: true,
    count: columns.length,
    getScrollElement: () => region.current,
    estimateSize: (at) => widths[at]!,
    overscan: 4,
    scrollPaddingStart: widths[0] ?? 0,
    rangeExtractor: withFirst
  })
  useEffect(() => across.measure(), [widths])
  const drawn = across.getVirtualItems().map(({ index }) => index)
  const [skipped, last] = [(drawn[1] ?? 1) - 1, columns.length - 1 - (drawn.at(-1) ?? 0)]
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
    props.onFilter({ path, value: row && valueOf(row, path) })
  }

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
                const mine = sort?.path === column
                return [
                  at > 0 && at === drawn[1] ? gap("before", skipped) : null,
                  <th
                    key={column}
                    scope="col"
                    aria-colindex={at + 1}
                    aria-sort={mine ? (sort?.descending ? "descending" : "ascending") : undefined}
                  >
                    <button
                      type="button"
                      class="sort"
                      {...tipped(-1, column, column)}
                      onKeyDown={(event) => asksFilter(event) && filterBy(event, undefined, column)}
                      onContextMenu={(event) => filterBy(event, undefined, column)}
                      onClick={() =>
                        props.onSort(
                          !mine
                            ? { path: column, descending: false }
                            : sort?.descending
                              ? undefined
                              : { path: column, descending: true }
                        )
                      }
                    >
                      <bdi class="sort-name">{clipped(column)}</bdi>
                      {mine ? <Icon name={sort?.descending ? "down" : "up"} /> : null}
                    </button>
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
              const id = cellText(valueOf(row, "_id"))
              return (
                <tr
                  key={id}
                  aria-rowindex={item.index + 2}
                  class={props.opened === id ? "opened" : undefined}
                >
                  {drawn.map((i) => {
                    const column = columns[i]!
                    const value = valueOf(row, column)
                    const missing = value === undefined && props.unread.includes(column) ? "not read" : ""
                    const text = isRounded(value)
                      ? `${cellText(value)} ${rounded}`
                      : cellText(value) || missing
                    if (column === "_id") {
                      return (
                        <th key={column} scope="row" aria-colindex={i + 1}>
                          <button
                            type="button"
                            class="open"
                            id={`open-${id}`}
                            onClick={() => props.onOpen(id)}
                            aria-label={`Open ${id}`}
                            {...tipped(item.index, column, id)}
                          >
                            <bdi>{clipped(id)}</bdi>
                          </button>
                        </th>
                      )
                    }
                    return [
                      i === drawn[1] ? gap("before", skipped) : null,
                      <td
                        key={column}
                        id={`cell-${item.index}-${i}`}
                        aria-colindex={i + 1}
                        class={`cell ${kindOf(value)}`}
                        tabIndex={active.row === item.index && active.column === i ? 0 : -1}
                        aria-describedby={
                          shown?.row === item.index && shown.column === column ? "cell-full" : undefined
                        }
                        {...tipped(item.index, column, text, i)}
                        onKeyDown={(event) => keys(event, item.index, i, id, text)}
                        onContextMenu={(event) => filterBy(event, row, column)}
                      >
                        {isRounded(value) ? <span aria-hidden="true">≈ </span> : null}
                        <bdi>{clipped(isRounded(value) ? cellText(value) : text)}</bdi>
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
        <CellTip
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
