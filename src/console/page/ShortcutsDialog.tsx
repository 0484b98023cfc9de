import { closeDialog, ModalDialog } from "../components/ModalDialog.js"

interface Shortcut {
  readonly keys: string
  readonly what: string
}

/** The list of keyboard shortcuts, and the switch for single-key shortcuts. */
export const ShortcutsDialog = (props: {
  readonly shortcuts: ReadonlyArray<Shortcut>
  readonly enabled: boolean
  readonly onEnabled: (enabled: boolean) => void
  readonly onClose: () => void
}) => (
  <ModalDialog titleId="shortcuts-title" onClose={props.onClose}>
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
      <span>Single-key shortcuts (inactive while you type)</span>
    </label>
    <div class="actions end">
      <button type="button" class="button primary" onClick={closeDialog}>
        Close
      </button>
    </div>
  </ModalDialog>
)
