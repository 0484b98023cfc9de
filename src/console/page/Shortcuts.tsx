import { useLayoutEffect } from "preact/hooks"

/** Whether keys typed now are text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))

/**
 * Runs the action of a key that is pressed outside of fields and dialogs. `escape` says whether it handled Escape;
 * without `enabled`, `?` and Ctrl+K alone have an action. Ctrl+K is no text: it acts in fields, too.
 */
export const useShortcuts = (
  enabled: boolean,
  escape: () => boolean,
  actions: Readonly<Record<string, () => void>>
): void => {
  // A layout effect, so that the next key finds the state that the last one changed.
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
