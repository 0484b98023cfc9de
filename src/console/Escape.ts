import { useEffect, useRef } from "preact/hooks"

/** What Escape closes; what was opened last, first. */
const opened: Array<{ readonly close: () => void }> = []

const closeLast = (event: KeyboardEvent) => {
  const last = opened[opened.length - 1]
  // A dialog is above everything else, and the browser closes it.
  if (event.key !== "Escape" || last === undefined || document.querySelector("dialog[open]") !== null) return
  event.preventDefault()
  event.stopPropagation()
  last.close()
}

/** Lets Escape close something that lies above the page, wherever the focus is, and nothing else by the same key. */
export const useEscape = (open: boolean, close: () => void): void => {
  const latest = useRef(close)
  latest.current = close
  useEffect(() => {
    if (!open) return
    const entry = { close: () => latest.current() }
    // Before whatever has the focus hears the key.
    if (opened.push(entry) === 1) addEventListener("keydown", closeLast, true)
    return () => {
      opened.splice(opened.indexOf(entry), 1)
      if (opened.length === 0) removeEventListener("keydown", closeLast, true)
    }
  }, [open])
}
