import { fieldId, fieldState } from "./Field.js"
import { fieldNotes } from "./FieldNotes.js"
import type { FieldProps } from "./FormActions.js"
import { JsonValue } from "./JsonValue.js"
import { ListItems } from "./ListItems.js"
import { controlKey, ScalarControl } from "./ScalarControl.js"
import { StateChoice } from "./StateChoice.js"

/** The items of a list, or the fields of an object. */
const Content = ({ field, hands }: FieldProps) =>
  field.kind === "list" ? (
    <ListItems field={field} hands={hands} content={(item) => <Content field={item} hands={hands} />} />
  ) : field.parts.length === 0 ? (
    <p class="help">No fields.</p>
  ) : (
    <div class="form-fields">
      {field.parts.map((part) => (
        <FieldView key={fieldId(part.path)} field={part} hands={hands} />
      ))}
    </div>
  )

/** A field of a form with its nested fields. */
export const FieldView = ({ field, hands }: FieldProps) => {
  const { kind, name } = field
  const { attributes, notes } = fieldNotes({ field, hands })
  const { id } = attributes
  const describedBy = attributes["aria-describedby"]
  const label = (
    <>
      <bdi>{name}</bdi>
      {field.optional ? null : <span class="needed"> required</span>}
    </>
  )
  if ((kind === "object" || kind === "list") && fieldState(field) === "value") {
    return (
      <fieldset class="form-group" id={id} aria-describedby={describedBy}>
        <legend>{label}</legend>
        <StateChoice field={field} hands={hands} />
        {notes}
        <Content field={field} hands={hands} />
      </fieldset>
    )
  }
  const isJson = kind === "json" || kind === "object" || kind === "list"
  return (
    <div class="form-field">
      {isJson ? <span class="form-label">{label}</span> : <label for={id}>{label}</label>}
      <div class="form-control">
        {isJson ? (
          <JsonValue field={field} hands={hands} id={id} describedBy={describedBy} />
        ) : (
          <ScalarControl key={controlKey(field)} field={field} hands={hands} {...attributes} />
        )}
        {kind === "boolean" || kind === "choice" ? null : (
          <StateChoice
            field={field}
            hands={hands}
            describedBy={kind === "list" || kind === "object" ? describedBy : undefined}
          />
        )}
      </div>
      {notes}
    </div>
  )
}
