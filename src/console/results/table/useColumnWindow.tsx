import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual"
import type { RefObject } from "preact"
import { useEffect, useMemo } from "preact/hooks"

/** Draws the first columns, which stay in view, and the columns in view. */
const withPinned =
  (pinned: number) =>
  (range: Range): Array<number> => [
    ...Array.from({ length: Math.min(pinned, range.count) }, (_, index) => index),
    ...defaultRangeExtractor(range).filter((index) => index >= pinned)
  ]

const gap = (key: string, columns: number) =>
  columns > 0 ? <td key={key} class="gap" colSpan={columns} aria-hidden="true" /> : null

/** Which columns are drawn: the pinned ones, and those in view. The same object as long as they stay the same. */
export const useColumnWindow = (
  region: RefObject<HTMLElement | null>,
  widths: ReadonlyArray<number>,
  /** How many columns stay in view, from the first. */
  pinned: number
) => {
  const startOf = (index: number) => widths.slice(0, index).reduce((sum, width) => sum + width, 0)
  const virtualizer = useVirtualizer<HTMLElement, HTMLTableCellElement>({
    horizontal: true,
    isRtl: document.dir === "rtl",
    count: widths.length,
    getScrollElement: () => region.current,
    estimateSize: (index) => widths[index]!,
    overscan: 2,
    scrollPaddingStart: startOf(pinned),
    rangeExtractor: withPinned(pinned)
  })
  useEffect(() => virtualizer.measure(), [widths])
  const drawn = virtualizer.getVirtualItems().map(({ index }) => index)
  return useMemo(
    () => ({
      drawn,
      pinnedWidth: startOf(pinned),
      scrollTo: (index: number) => virtualizer.scrollToIndex(index),
      /** The class and the style that keep a pinned cell in view. */
      cellPosition: (index: number) =>
        index > 0 && index < pinned
          ? { class: "pinned", style: { insetInlineStart: startOf(index) } }
          : { class: "", style: undefined },
      /** The place of the columns that are not drawn before a column; null for most columns. */
      gapBefore: (index: number) => (index === drawn[pinned] ? gap("before", index - pinned) : null),
      gapAfter: gap("after", widths.length - 1 - (drawn.at(-1) ?? 0))
    }),
    [drawn.join(), widths, pinned]
  )
}

export type ColumnWindow = ReturnType<typeof useColumnWindow>
