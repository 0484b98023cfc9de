import { type Field, type FieldState, fieldState, isItem } from "./Field.js"
import type { FieldProps } from "./FormActions.js"
import { initialValue } from "./InitialValue.js"

const kindLabels: Readonly<Record<Field["kind"], string>> = {
  text: "Text",
  long: "Text",
  moment: "Date and time",
  number: "Number",
  integer: "Number",
  boolean: "Value",
  choice: "Value",
  list: "List",
  object: "Object",
  json: "JSON"
}

/** Chooses between value, null and absent. Not shown if only one is possible. */
export const StateChoice = ({
  describedBy,
  field,
  hands
}: FieldProps & { readonly describedBy?: string | undefined }) => {
  const state = fieldState(field)
  const { kind, name, nullable, optional, path } = field
  const states: ReadonlyArray<readonly [FieldState, string]> = [
    // A field of unknown type is edited as JSON.
    ...(kind === "json" && state !== "value" ? [] : [["value", kindLabels[kind]] as const]),
    ...(nullable || state === "null" ? [["null", "null"] as const] : []),
    ...(!isItem(field) && (optional || state === "absent") ? [["absent", "Absent"] as const] : [])
  ]
  if (states.length === 1) return null
  return (
    <select
      class="field-state"
      aria-label={`Type of ${name}`}
      aria-describedby={describedBy}
      value={state}
      onChange={(event) => {
        const next = event.currentTarget.value as FieldState
        hands.setTyped(path, undefined)
        if (next === "absent") hands.edit({ _tag: "Remove", path })
        else hands.edit({ _tag: "Set", path, raw: next === "null" ? "null" : initialValue(field) })
      }}
    >
      {states.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  )
}
