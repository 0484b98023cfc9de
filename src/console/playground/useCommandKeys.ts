import { useLayoutEffect } from "preact/hooks"

/** Handles keys with Ctrl or Command, also while the user types. A field with its own undo history handles undo itself. */
export const useCommandKeys = (actions: {
  readonly enter: () => void
  readonly undo: () => void
  readonly redo: () => void
}): void => {
  useLayoutEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return
      if (document.querySelector("dialog[open]") !== null) return
      const key = event.key.toLowerCase()
      const own = event.target instanceof HTMLTextAreaElement
      const action =
        key === "enter"
          ? actions.enter
          : own
            ? undefined
            : key === "y" || (key === "z" && event.shiftKey)
              ? actions.redo
              : key === "z"
                ? actions.undo
                : undefined
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    addEventListener("keydown", keys)
    return () => removeEventListener("keydown", keys)
  })
}
