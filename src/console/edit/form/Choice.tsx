import type { Json } from "../../../domain/json/Json.js"
import { fieldState, isItem } from "./Field.js"
import type { FieldProps } from "./FormActions.js"

const shownChoice = (value: Json): string =>
  typeof value === "string" ? (value === "" ? "empty text" : value) : JSON.stringify(value)

/** A select of the allowed values, with null and absent. */
export const Choice = ({
  field,
  hands,
  ...attributes
}: FieldProps & { readonly [name: string]: unknown }) => {
  const { choices, kind, node, nullable, optional, path } = field
  const state = fieldState(field)
  const all: ReadonlyArray<Json> = kind === "boolean" ? [true, false] : choices
  const value = node !== undefined && "value" in node ? node.value : undefined
  const at = state === "value" ? all.indexOf(value as Json) : -1
  const shown = state === "value" ? (at < 0 ? "other" : `${at}`) : state
  return (
    <select
      {...attributes}
      value={shown}
      onChange={(event) => {
        const chosen = event.currentTarget.value
        if (chosen === "absent") hands.edit({ _tag: "Remove", path })
        else if (chosen !== "other")
          hands.edit({
            _tag: "Set",
            path,
            raw: chosen === "null" ? "null" : JSON.stringify(all[Number(chosen)])
          })
      }}
    >
      {shown === "other" ? <option value="other">{shownChoice(value ?? null)}</option> : null}
      {all.map((one, index) => (
        <option key={index} value={`${index}`}>
          {shownChoice(one)}
        </option>
      ))}
      {nullable || state === "null" ? <option value="null">null</option> : null}
      {!isItem(field) && (optional || state === "absent") ? <option value="absent">Absent</option> : null}
    </select>
  )
}
