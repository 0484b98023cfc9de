import { useCallback, useRef, useState } from "preact/hooks"
import { copyText } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { useEscape } from "../components/useEscape.js"
import { escapeBidi, truncated } from "./Cell.js"

interface Tooltip {
  readonly row: number
  readonly column: string
  readonly text: string
  /** The element that has the pointer or the focus. */
  readonly of: HTMLElement
  readonly left: number
  readonly top: number
  readonly above: boolean
}

/** The position of an element's tooltip. */
const positionOf = (element: HTMLElement) => {
  const box = element.getBoundingClientRect()
  const above = box.bottom + 220 > innerHeight
  return {
    left: Math.max(8, Math.min(box.left, innerWidth - 380)),
    top: above ? box.top - 4 : box.bottom + 4,
    above
  }
}

/** Whether a cell is in the visible part of the table. */
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

/** Whether an element shows its full text. */
const isFullyShown = (element: HTMLElement, text: string): boolean => {
  const box = element.querySelector(".sort-name") ?? element
  return truncated(text) === text && box.textContent === text && box.scrollWidth <= box.clientWidth
}

/** Milliseconds that a tooltip stays after the pointer and the focus have left. */
const hideDelay = 250

/** The tooltip with a cell's full text: shown for the cell that has the pointer or the focus, if the cell shows another text. */
export const useCellTooltip = () => {
  const [shown, setShown] = useState<Tooltip | undefined>(undefined)
  /** Counts pointer and focus events: a delayed hide acts only if none came after it. */
  const events = useRef(0)
  /** Whether the focus returns to a cell because its tooltip was closed. */
  const dismissed = useRef(false)
  const hide = useCallback(() => setShown(undefined), [])

  const show = useCallback((element: HTMLElement, row: number, column: string, text: string) => {
    events.current++
    setShown(
      isFullyShown(element, text) ? undefined : { of: element, row, column, text, ...positionOf(element) }
    )
  }, [])

  const stay = useCallback(() => {
    events.current++
  }, [])

  const leave = useCallback(() => {
    const event = ++events.current
    setTimeout(() => {
      if (events.current === event) hide()
    }, hideDelay)
  }, [])

  return {
    shown,
    hide,
    stay,
    leave,
    /** Moves the tooltip of the focused cell while the table scrolls, and hides any other one. */
    follow: useCallback(
      () =>
        setShown((before) =>
          before !== undefined && before.of === document.activeElement && isInView(before.of)
            ? { ...before, ...positionOf(before.of) }
            : undefined
        ),
      []
    ),
    dismiss: () => {
      hide()
      if (shown === undefined || document.activeElement?.id !== "copy-cell") return
      dismissed.current = true
      shown.of.focus()
    },
    /** The handlers of an element that shows a tooltip: this function is the same at each render. */
    handlers: useCallback(
      (row: number, column: string, text: string, onFocus?: () => void) => ({
        onFocus: (event: { readonly currentTarget: HTMLElement }) => {
          onFocus?.()
          if (!dismissed.current) show(event.currentTarget, row, column, text)
          dismissed.current = false
        },
        onBlur: leave,
        onMouseEnter: (event: { readonly currentTarget: HTMLElement }) => {
          stay()
          show(event.currentTarget, row, column, text)
        },
        onMouseLeave: leave
      }),
      []
    )
  }
}

export type CellTooltipState = ReturnType<typeof useCellTooltip>

/** The full text of a cell, and a button that copies it. */
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
