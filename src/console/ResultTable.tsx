import {
  columnVisibilityFeature,
  createSortedRowModel,
  rowSortingFeature,
  tableFeatures,
  useTable
} from "@tanstack/react-table"
import { useVirtualizer } from "@tanstack/react-virtual"
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../domain/Document.js"
import type { Sort } from "../store/browse/Browse.js"
import { compareJson } from "../store/browse/Filter.js"
import { cellText, clipped, kindOf, own } from "./Cell.js"
import { copyText } from "./Clipboard.js"
import { Icon } from "./Icon.js"

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: {}
})

const rowHeight = 38

const widthOf = (column: string, rows: ReadonlyArray<JsonObject>): number => {
  let longest = column.length + 4
  for (const row of rows.slice(0, 60)) longest = Math.max(longest, cellText(own(row, column)).length)
  return Math.round(Math.min(Math.max(longest, 6), column === "_id" ? 30 : 38) * 7.6) + 30
}

interface Shown {
  readonly row: number
  readonly column: string
  readonly text: string
  readonly left: number
  readonly top: number
  readonly above: boolean
}

/** The rows as TanStack sorts them: by the order of JSON values, what is missing always last. */
export const useRows = (
  documents: ReadonlyArray<JsonObject>,
  columns: ReadonlyArray<string>,
  sort: Sort | undefined,
  sorted: boolean
) => {
  const definitions = useMemo(
    () =>
      columns.map((column) => ({
        id: column,
        accessorFn: (row: JsonObject) => own(row, column),
        sortUndefined: "last" as const,
        sortFn: (a: { original: JsonObject }, b: { original: JsonObject }) =>
          compareJson(own(a.original, column), own(b.original, column))
      })),
    [columns]
  )
  const data = useMemo(() => [...documents], [documents])
  const sorting = useMemo(
    () => (sort === undefined || sorted ? [] : [{ id: sort.path, desc: sort.descending }]),
    [sort?.path, sort?.descending, sorted]
  )
  const table = useTable({ features, data, columns: definitions as never, state: { sorting } as never })
  return table.getRowModel().rows.map((row: { original: JsonObject }) => row.original)
}

/** Documents as a native table whose rows are drawn as they come into view. */
export const ResultTable = (props: {
  readonly caption: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  readonly sort: Sort | undefined
  readonly onSort: (sort: Sort | undefined) => void
  readonly onOpen: (id: string) => void
  readonly opened: string | undefined
}) => {
  const { columns, rows, sort } = props
  const region = useRef<HTMLElement>(null)
  const [active, setActive] = useState({ row: 0, column: 1 })
  const [shown, setShown] = useState<Shown | undefined>(undefined)
  const [leaving, setLeaving] = useState(0)
  const dismissed = useRef(false)
  const virtual = useVirtualizer<HTMLElement, HTMLTableRowElement>({
    count: rows.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowHeight,
    overscan: 8
  })
  const widths = useMemo(() => columns.map((column) => widthOf(column, rows)), [columns, rows])
  const items = virtual.getVirtualItems()
  const before = items[0]?.start ?? 0
  const after = virtual.getTotalSize() - (items[items.length - 1]?.end ?? 0)

  useEffect(() => {
    setShown(undefined)
    setActive({ row: 0, column: 1 })
  }, [columns, rows])

  const show = useCallback((element: HTMLElement, row: number, column: string, text: string) => {
    const box = element.getBoundingClientRect()
    const above = box.bottom + 220 > innerHeight
    setShown({
      row,
      column,
      text,
      left: Math.max(8, Math.min(box.left, innerWidth - 380)),
      top: above ? box.top - 4 : box.bottom + 4,
      above
    })
  }, [])
  const hide = () => setShown(undefined)

  useEffect(() => {
    if (leaving === 0) return
    const timer = setTimeout(hide, 250)
    return () => clearTimeout(timer)
  }, [leaving])

  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(rows.length - 1, row)),
      column: Math.max(1, Math.min(columns.length - 1, column))
    }
    virtual.scrollToIndex(next.row)
    setActive(next)
    requestAnimationFrame(() =>
      requestAnimationFrame(() => document.getElementById(`cell-${next.row}-${next.column}`)?.focus())
    )
  }

  const keys = (event: KeyboardEvent, row: number, column: number, id: string) => {
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
      document.getElementById("copy-cell")?.focus()
    } else if (event.key === "Escape" && shown !== undefined) {
      event.stopPropagation()
      hide()
    } else if (event.key === "o" && !event.ctrlKey && !event.metaKey) props.onOpen(id)
  }

  return (
    <div class="table-box">
      <section
        class="table-scroll"
        ref={region}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Results, scrollable"
        onScroll={hide}
      >
        <table
          class="table"
          aria-rowcount={rows.length + 1}
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
              {columns.map((column) => {
                const mine = sort?.path === column
                return (
                  <th
                    key={column}
                    scope="col"
                    aria-sort={mine ? (sort?.descending ? "descending" : "ascending") : undefined}
                  >
                    <button
                      type="button"
                      class="sort"
                      title={column.length > 30 ? clipped(column) : undefined}
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
                )
              })}
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
              const id = cellText(own(row, "_id"))
              return (
                <tr
                  key={id}
                  aria-rowindex={item.index + 2}
                  class={props.opened === id ? "opened" : undefined}
                >
                  {columns.map((column, i) => {
                    const value = own(row, column)
                    const text = cellText(value)
                    if (column === "_id") {
                      return (
                        <th key={column} scope="row">
                          <button
                            type="button"
                            class="open"
                            id={`open-${id}`}
                            onClick={() => props.onOpen(id)}
                            aria-label={`Open ${id}`}
                          >
                            <bdi>{clipped(id)}</bdi>
                          </button>
                        </th>
                      )
                    }
                    return (
                      <td
                        key={column}
                        id={`cell-${item.index}-${i}`}
                        class={`cell ${kindOf(value)}`}
                        tabIndex={active.row === item.index && active.column === i ? 0 : -1}
                        aria-describedby={
                          shown?.row === item.index && shown.column === column ? "cell-full" : undefined
                        }
                        onFocus={(event) => {
                          setActive({ row: item.index, column: i })
                          if (text !== "" && !dismissed.current) {
                            show(event.currentTarget, item.index, column, text)
                          }
                          dismissed.current = false
                        }}
                        onBlur={() => setLeaving((n) => n + 1)}
                        onMouseEnter={(event) => {
                          setLeaving(0)
                          if (text !== "") show(event.currentTarget, item.index, column, text)
                        }}
                        onMouseLeave={() => setLeaving((n) => n + 1)}
                        onKeyDown={(event) => keys(event, item.index, i, id)}
                      >
                        <bdi>{clipped(text)}</bdi>
                      </td>
                    )
                  })}
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
        <section
          class={`tip ${shown.above ? "above" : ""}`}
          aria-label={`Full text of ${clipped(shown.column)}`}
          style={{ left: shown.left, top: shown.top }}
          onMouseEnter={() => setLeaving(0)}
          onMouseLeave={() => setLeaving((n) => n + 1)}
          onFocusCapture={() => setLeaving(0)}
          onBlurCapture={() => setLeaving((n) => n + 1)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return
            event.stopPropagation()
            hide()
            dismissed.current = true
            document.getElementById(`cell-${shown.row}-${columns.indexOf(shown.column)}`)?.focus()
          }}
        >
          <p class="tip-text" id="cell-full">
            <bdi>{shown.text.length > 20_000 ? `${shown.text.slice(0, 20_000)}…` : shown.text}</bdi>
          </p>
          <button
            type="button"
            class="button small quiet"
            id="copy-cell"
            onClick={() => copyText(shown.text, "the cell's text")}
          >
            <Icon name="copy" />
            Copy
          </button>
        </section>
      )}
    </div>
  )
}
