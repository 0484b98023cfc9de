import type { Field } from "./Field.js"
import type { Path } from "./JsonNodes.js"
import type { FormEdit } from "./TextEdits.js"

/** What fields need of the form: the text, edits, and pending input. */
export interface FormActions {
  readonly text: string
  /** `focus` is the id of the field or button to focus after the edit. Edits with `isTyped` that follow without a pause are one undo step. */
  readonly edit: (edit: FormEdit, how?: { readonly focus?: string; readonly isTyped?: boolean }) => void
  readonly typedAt: (path: Path) => string | undefined
  readonly setTyped: (path: Path, text: string | undefined) => void
  readonly onJson: (at: number | undefined) => void
}

/** The properties of every component of a field. */
export interface FieldProps {
  readonly field: Field
  readonly hands: FormActions
}
