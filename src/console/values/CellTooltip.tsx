import { useCallback, useRef, useState } from "preact/hooks"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { useEscape } from "../components/useEscape.js"
import { escapeBidi, truncated } from "./Cell.js"

interface Tooltip {
  readonly row: number
  readonly column: string
  readonly text: string
  /** What has the pointer or the focus. */
  readonly of: HTMLElement
  readonly left: number
  readonly top: number
  readonly above: boolean
}

/** Where the tip of an element lies. */
const positionOf = (element: HTMLElement) => {
  const box = element.getBoundingClientRect()
  const above = box.bottom + 220 > innerHeight
  return {
    left: Math.max(8, Math.min(box.left, innerWidth - 380)),
    top: above ? box.top - 4 : box.bottom + 4,
    above
  }
}

/** Whether a cell is in the part of the table that is in view. */
const isInView = (element: HTMLElement): boolean => {
  const [cell, region] = [element, element.closest(".table-scroll")!].map((one) =>
    one.getBoundingClientRect()
  )
  return (
    cell!.bottom > region!.top &&
    cell!.top < region!.bottom &&
    cell!.right > region!.left &&
    cell!.left < region!.right
  )
}

/** Whether an element shows its whole text. */
const isFullyShown = (element: HTMLElement, text: string): boolean => {
  const box = element.querySelector(".sort-name") ?? element
  return truncated(text) === text && box.textContent === text && box.scrollWidth <= box.clientWidth
}

/** Which cell's whole text is shown: at once for what has the pointer or the focus, gone a moment after both have left. */
export const useCellTooltip = () => {
  const [shown, setShown] = useState<Tooltip | undefined>(undefined)
  /** Counts what the pointer and the focus did: only the last of it may still take a tip away. */
  const moves = useRef(0)
  /** Whether the focus comes back to a cell because its tip was sent away. */
  const dismissed = useRef(false)
  const hide = useCallback(() => setShown(undefined), [])

  const show = useCallback((element: HTMLElement, row: number, column: string, text: string) => {
    moves.current++
    setShown(
      isFullyShown(element, text) ? undefined : { of: element, row, column, text, ...positionOf(element) }
    )
  }, [])

  /** The tip of what has the focus moves with it; any other one is gone when its cell moves away. */
  const follow = useCallback(
    () =>
      setShown((before) =>
        before !== undefined && before.of === document.activeElement && isInView(before.of)
          ? { ...before, ...positionOf(before.of) }
          : undefined
      ),
    []
  )

  return {
    shown,
    dismissed,
    show,
    follow,
    hide,
    stay: () => {
      moves.current++
    },
    leave: () => {
      const left = ++moves.current
      setTimeout(() => {
        if (moves.current === left) hide()
      }, 250)
    }
  }
}

/** The whole text of a cell, and a button that copies it. */
export const CellTooltip = (props: {
  readonly shown: Tooltip
  readonly onStay: () => void
  readonly onLeave: () => void
  readonly onDismiss: () => void
}) => {
  useEscape(true, props.onDismiss)
  const { above, column, left, text, top } = props.shown
  return (
    <section
      class={`tip ${above ? "above" : ""}`}
      aria-label={`Full text of ${truncated(column)}`}
      style={{ left, top }}
      onMouseEnter={props.onStay}
      onMouseLeave={props.onLeave}
      onFocusCapture={props.onStay}
      onBlurCapture={props.onLeave}
    >
      <p class="tip-text" id="cell-full">
        <bdi>{escapeBidi(text.length > 20_000 ? `${text.slice(0, 20_000)}…` : text)}</bdi>
      </p>
      <button
        type="button"
        class="button small quiet"
        id="copy-cell"
        onClick={() => copyText(text, "the cell's text")}
      >
        <Icon name="copy" />
        Copy
      </button>
    </section>
  )
}
