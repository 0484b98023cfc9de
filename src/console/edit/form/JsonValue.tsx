import { type Field, fieldState } from "./Field.js"
import type { FieldProps } from "./FormActions.js"

/** The longest JSON that a form shows of a value. */
const maxShown = 200

const shownJson = (field: Field, text: string): string => {
  const state = fieldState(field)
  const { node } = field
  return node === undefined || state !== "value"
    ? state
    : text.slice(node.from, Math.min(node.to, node.from + maxShown))
}

/** The JSON of a value that has no control, with a button that opens the JSON editor at it if it is edited there. */
export const JsonValue = ({
  describedBy,
  field,
  hands,
  id
}: FieldProps & { readonly id: string; readonly describedBy: string | undefined }) => (
  <>
    <code class="form-raw" dir="ltr">
      {shownJson(field, hands.text)}
    </code>
    {field.kind !== "json" ? null : (
      <button
        type="button"
        class="button small plain"
        id={id}
        aria-describedby={describedBy}
        aria-label={`Edit ${field.name} as JSON`}
        onClick={() => hands.onJson(field.node?.from)}
      >
        Edit as JSON
      </button>
    )}
  </>
)
