import { useLayoutEffect } from "preact/hooks"

/** Closes an overlay on Escape, wherever the focus is, and stops other handlers of that key. */
export const useEscape = (open: boolean, close: () => void): void => {
  // A layout effect runs before the next key press, which then sees the new state.
  useLayoutEffect(() => {
    if (!open) return
    const keys = (event: KeyboardEvent) => {
      // An open dialog is on top, and the browser closes it.
      if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return
      event.preventDefault()
      event.stopImmediatePropagation()
      close()
    }
    // The capture phase runs before the handlers of the focused element.
    addEventListener("keydown", keys, true)
    return () => removeEventListener("keydown", keys, true)
  })
}
