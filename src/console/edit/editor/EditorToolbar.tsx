import { Icon } from "../../components/Icon.js"
import type { EditedDocument } from "./useEditedDocument.js"
import type { EditorView } from "./useEditorForm.js"

const views = [
  ["form", "Form"],
  ["json", "JSON"]
] as const

/** The buttons above the editor: view, undo, duplicate, delete, discard. */
export const EditorToolbar = (props: {
  readonly edited: EditedDocument
  readonly view: EditorView | undefined
  readonly isValid: boolean
  readonly onView: (view: EditorView) => void
  readonly onUndo: () => void
  readonly onRedo: () => void
  readonly onDuplicate: () => void
  readonly onDelete: () => void
  readonly onKeepDocument: () => void
  readonly onDiscard: () => void
}) => {
  const { base, draftState, isDeleted } = props.edited
  const isStored = base !== null && base !== undefined
  return (
    <div class="json-tools" role="toolbar" aria-label="Editing">
      {views.map(([view, label]) => (
        <button
          key={view}
          type="button"
          class="tab small"
          aria-pressed={props.view === view}
          disabled={isDeleted}
          onClick={() => props.onView(view)}
        >
          {label}
        </button>
      ))}
      <button
        type="button"
        class="button small quiet icon-only"
        aria-label="Undo"
        title="Undo (Ctrl+Z)"
        disabled={isDeleted}
        onClick={props.onUndo}
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="button small quiet icon-only"
        aria-label="Redo"
        title="Redo (Ctrl+Shift+Z)"
        disabled={isDeleted}
        onClick={props.onRedo}
      >
        <Icon name="redo" />
      </button>
      <div class="together">
        <button
          type="button"
          class="button small quiet"
          disabled={!props.isValid || base === undefined}
          onClick={props.onDuplicate}
        >
          <Icon name="copy" />
          Duplicate
        </button>
        {!isStored || isDeleted ? null : (
          <button type="button" class="button small quiet" onClick={props.onDelete}>
            <Icon name="close" />
            Delete
          </button>
        )}
        {draftState.draft === undefined && !draftState.isUnsaved ? null : (
          <button
            type="button"
            class="button small quiet"
            onClick={isDeleted ? props.onKeepDocument : props.onDiscard}
          >
            {isDeleted ? "Keep the document" : "Discard the draft"}
          </button>
        )}
      </div>
    </div>
  )
}
