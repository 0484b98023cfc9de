import { useLayoutEffect } from "preact/hooks"

/** Lets Escape close something that lies above the page, wherever the focus is, and nothing else by the same key. */
export const useEscape = (open: boolean, close: () => void): void => {
  // A layout effect, so that the next key finds the state that the last one changed, and nobody who has gone.
  useLayoutEffect(() => {
    if (!open) return
    const keys = (event: KeyboardEvent) => {
      // A dialog is above everything else, and the browser closes it.
      if (event.key !== "Escape" || document.querySelector("dialog[open]") !== null) return
      event.preventDefault()
      event.stopImmediatePropagation()
      close()
    }
    // Before whatever has the focus hears the key.
    addEventListener("keydown", keys, true)
    return () => removeEventListener("keydown", keys, true)
  })
}
