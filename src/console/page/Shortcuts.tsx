import { useLayoutEffect } from "preact/hooks"

/** Whether the element takes typed text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))

/**
 * Runs the action of a key that is pressed outside of text fields and dialogs. `escape` returns whether it handled
 * Escape. If `enabled` is false, only `?` and Ctrl+K have an action. Ctrl+K also works in text fields.
 */
export const useShortcuts = (
  enabled: boolean,
  escape: () => boolean,
  actions: Readonly<Record<string, () => void>>
): void => {
  // A layout effect runs before the next key press, which then sees the new state.
  useLayoutEffect(() => {
    const keys = (event: KeyboardEvent) => {
      const command = (event.ctrlKey || event.metaKey) && event.key === "k"
      if (event.defaultPrevented || (!command && (event.ctrlKey || event.metaKey)) || event.altKey) return
      if (event.key === "Escape") {
        if (escape()) event.preventDefault()
        return
      }
      if (document.querySelector("dialog[open]") !== null) return
      if (!command && (isTyping(event.target) || (event.key !== "?" && !enabled))) return
      const action = actions[command ? "Ctrl+k" : event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    addEventListener("keydown", keys)
    return () => removeEventListener("keydown", keys)
  })
}

/** Opens the list of shortcuts. */
export const ShortcutsButton = (props: { readonly onClick: () => void }) => (
  <button
    type="button"
    class="button icon-only quiet"
    aria-label="Keyboard shortcuts"
    title="Keyboard shortcuts (?)"
    onClick={props.onClick}
  >
    <span aria-hidden="true">?</span>
  </button>
)
