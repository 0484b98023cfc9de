import { useMemo, useState } from "preact/hooks"

/** The column layout of a collection, stored in the browser. */
export interface ColumnLayout {
  /** The order of the columns; columns that are not listed come after them. */
  readonly order: ReadonlyArray<string>
  /** Columns that stay visible next to the ids. */
  readonly pinned: ReadonlyArray<string>
  /** Widths in pixels. */
  readonly widths: Readonly<Record<string, number>>
}

const none: ColumnLayout = { order: [], pinned: [], widths: {} }

const [narrowest, widest] = [48, 1200]

/** Orders columns: the ids, pinned columns, then the others. */
export const arrangeColumns = (
  columns: ReadonlyArray<string>,
  { order, pinned }: ColumnLayout
): ReadonlyArray<string> => {
  const there = new Set(columns)
  const all = [...new Set([...columns.filter((one) => one === "_id"), ...order, ...columns])]
  const groupOf = (column: string) => (column === "_id" ? 0 : pinned.includes(column) ? 1 : 2)
  return all.filter((column) => there.has(column)).sort((a, b) => groupOf(a) - groupOf(b))
}

/** The width that was set for a column; undefined if none was. */
export const columnWidth = ({ widths }: ColumnLayout, column: string): number | undefined =>
  Object.hasOwn(widths, column) ? widths[column] : undefined

/** Moves a column to the place of another one; `all` are all columns. */
export const moveColumn = (
  layout: ColumnLayout,
  all: ReadonlyArray<string>,
  column: string,
  to: string
): ColumnLayout => {
  const before = arrangeColumns(all, layout)
  const at = before.indexOf(to)
  const order = before.filter((one) => one !== column)
  order.splice(at, 0, column)
  return column === "_id" || to === "_id" || at < 0 ? layout : { ...layout, order }
}

/** Pins or unpins a column. */
export const togglePin = (layout: ColumnLayout, column: string): ColumnLayout => ({
  ...layout,
  pinned: layout.pinned.includes(column)
    ? layout.pinned.filter((one) => one !== column)
    : [...layout.pinned, column]
})

/** Sets the width of a column; undefined resets it. */
export const resizeColumn = (
  layout: ColumnLayout,
  column: string,
  width: number | undefined
): ColumnLayout => {
  const { [column]: _, ...others } = layout.widths
  const next = width === undefined ? undefined : Math.round(Math.min(Math.max(width, narrowest), widest))
  return { ...layout, widths: next === undefined ? others : { ...others, [column]: next } }
}

const texts = (given: unknown): ReadonlyArray<string> =>
  Array.isArray(given) ? [...new Set(given)].filter((one) => typeof one === "string") : []

/** Parses a stored layout; invalid parts are ignored. */
export const parseLayout = (text: string | null): ColumnLayout => {
  try {
    const found = JSON.parse(text ?? "{}") as { readonly [Name in keyof ColumnLayout]?: unknown } | null
    return Object.entries(found?.widths ?? {}).reduce(
      (layout, [column, width]) =>
        Number.isFinite(width) ? resizeColumn(layout, column, Number(width)) : layout,
      { ...none, order: texts(found?.order), pinned: texts(found?.pinned) }
    )
  } catch {
    return none
  }
}

const stored = (key: string): ColumnLayout => {
  try {
    return parseLayout(localStorage.getItem(key))
  } catch {
    return none
  }
}

/** The layout stored under a key, and a function that changes it; undefined deletes it. */
export const useColumnLayout = (
  key: string
): readonly [ColumnLayout, (next: ColumnLayout | undefined) => void] => {
  const [changed, setChanged] = useState<{ readonly key: string; readonly layout: ColumnLayout } | undefined>(
    undefined
  )
  const kept = useMemo(() => stored(key), [key])
  const change = (next: ColumnLayout | undefined) => {
    setChanged({ key, layout: next ?? none })
    try {
      if (next === undefined) localStorage.removeItem(key)
      else localStorage.setItem(key, JSON.stringify(next))
    } catch {
      // Without storage the layout lasts as long as the page.
    }
  }
  return [changed?.key === key ? changed.layout : kept, change]
}
