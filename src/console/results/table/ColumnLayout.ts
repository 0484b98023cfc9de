import { useMemo, useState } from "preact/hooks"

/** How somebody has laid out the columns of a collection, in this browser. */
export interface ColumnLayout {
  /** The columns that were moved, and those beside them, in their order; others stand behind them. */
  readonly order: ReadonlyArray<string>
  /** Columns that stay in view beside the ids. */
  readonly pinned: ReadonlyArray<string>
  /** Widths in pixels. */
  readonly widths: Readonly<Record<string, number>>
}

const none: ColumnLayout = { order: [], pinned: [], widths: {} }

const [narrowest, widest] = [48, 1200]

/** The columns as they are shown: the ids, what is pinned, and the others. */
export const arrangeColumns = (
  columns: ReadonlyArray<string>,
  { order, pinned }: ColumnLayout
): ReadonlyArray<string> => {
  const there = new Set(columns)
  const all = [...new Set([...columns.filter((one) => one === "_id"), ...order, ...columns])]
  const groupOf = (column: string) => (column === "_id" ? 0 : pinned.includes(column) ? 1 : 2)
  return all.filter((column) => there.has(column)).sort((a, b) => groupOf(a) - groupOf(b))
}

/** The width that somebody gave a column, whose name may be that of anything. */
export const columnWidth = ({ widths }: ColumnLayout, column: string): number | undefined =>
  Object.hasOwn(widths, column) ? widths[column] : undefined

/** Puts a column in the place of another one, of `all` that there are. */
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

/** Pins a column, or lets it go. */
export const togglePin = (layout: ColumnLayout, column: string): ColumnLayout => ({
  ...layout,
  pinned: layout.pinned.includes(column)
    ? layout.pinned.filter((one) => one !== column)
    : [...layout.pinned, column]
})

/** Gives a column a width; undefined: the one that its values need. */
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

/** Reads a layout; what makes no sense is left out. */
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

/** The layout that the browser keeps under a key, and a way to change it; undefined forgets it. */
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
      // It is laid out so as long as the page is shown.
    }
  }
  return [changed?.key === key ? changed.layout : kept, change]
}
