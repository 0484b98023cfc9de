import type { ComponentChildren } from "preact"
import { Icon } from "../../components/Icon.js"
import { type Field, fieldId, fieldState } from "./Field.js"
import { fieldNotes } from "./FieldNotes.js"
import type { FieldProps } from "./FormActions.js"
import { newItem } from "./InitialValue.js"
import { ItemButtons } from "./ItemButtons.js"
import { JsonValue } from "./JsonValue.js"
import { controlKey, ScalarControl } from "./ScalarControl.js"
import { StateChoice } from "./StateChoice.js"

/** Whether an item is an object or a list, which has fields of its own. */
const isGroup = (item: Field): boolean =>
  (item.kind === "object" || item.kind === "list") && fieldState(item) === "value"

/** The items of a list. `content` renders the fields of an item that is an object or a list. */
export const ListItems = ({
  content,
  field,
  hands
}: FieldProps & { readonly content: (item: Field) => ComponentChildren }) => {
  const { item: schema, name, parts, path } = field
  const id = fieldId(path)
  const add = () =>
    hands.edit({ _tag: "Add", path, raw: newItem(field) }, { focus: fieldId([...path, parts.length]) })
  return (
    <>
      <ol class="form-items">
        {parts.map((item, at) => {
          const { attributes, notes } = fieldNotes({ field: item, hands })
          const buttons = <ItemButtons list={field} item={item} at={at} hands={hands} />
          // An inferred schema allows null everywhere; a select at each item would be in the way.
          const choice =
            schema?.nullable === true || fieldState(item) === "null" ? (
              <StateChoice field={item} hands={hands} />
            ) : null
          return (
            <li key={at}>
              {isGroup(item) ? (
                <fieldset
                  class="form-group"
                  id={attributes.id}
                  aria-describedby={attributes["aria-describedby"]}
                >
                  <legend>
                    <bdi>{item.name}</bdi>
                  </legend>
                  <div class="form-item form-item-head">
                    {choice}
                    {buttons}
                  </div>
                  {notes}
                  {content(item)}
                </fieldset>
              ) : (
                <>
                  <div class="form-item">
                    {item.kind === "json" || item.kind === "object" || item.kind === "list" ? (
                      <JsonValue
                        field={item}
                        hands={hands}
                        id={attributes.id}
                        describedBy={attributes["aria-describedby"]}
                      />
                    ) : (
                      <ScalarControl
                        key={controlKey(item)}
                        field={item}
                        hands={hands}
                        {...attributes}
                        aria-label={item.name}
                      />
                    )}
                    {item.kind === "boolean" || item.kind === "choice" ? null : choice}
                    {buttons}
                  </div>
                  {notes}
                </>
              )}
            </li>
          )
        })}
      </ol>
      <button
        type="button"
        class="button small plain"
        id={`${id}-add`}
        aria-label={`Add to ${name}`}
        onClick={add}
      >
        <Icon name="plus" />
        Add
      </button>
    </>
  )
}
