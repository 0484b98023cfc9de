import { useLayoutEffect, useRef } from "preact/hooks"
import { useModal } from "./Focus.js"

export interface Shortcut {
  readonly keys: string
  readonly what: string
}

/** Whether keys typed now are text. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))

/**
 * Runs the action of a key that is pressed outside of fields and dialogs. `escape` says whether it handled Escape;
 * without `enabled`, `?` alone has an action.
 */
export const useShortcuts = (
  enabled: boolean,
  escape: () => boolean,
  actions: Readonly<Record<string, () => void>>
): void => {
  // A layout effect, so that the next key finds the state that the last one changed.
  useLayoutEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === "Escape") {
        if (escape()) event.preventDefault()
        return
      }
      if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return
      if (event.key !== "?" && !enabled) return
      const action = actions[event.key]
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

/** The list behind `?`, and the switch for those of them that are a single key. */
export const ShortcutsDialog = (props: {
  readonly shortcuts: ReadonlyArray<Shortcut>
  readonly enabled: boolean
  readonly onEnabled: (enabled: boolean) => void
  readonly onClose: () => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useModal(dialog, () => document.activeElement)
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="shortcuts-title" onClose={props.onClose}>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="shortcuts">
        {props.shortcuts.map(({ keys, what }) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label class="inline-check">
        <input
          type="checkbox"
          checked={props.enabled}
          onChange={(event) => props.onEnabled(event.currentTarget.checked)}
        />
        <span>Single-key shortcuts (they never act while you type)</span>
      </label>
      <div class="actions end">
        <button type="button" class="button primary" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
    </dialog>
  )
}
