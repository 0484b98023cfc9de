import { TextInput } from "../../components/TextInput.js"
import { Choice } from "./Choice.js"
import { type Field, fieldState } from "./Field.js"
import type { FieldProps } from "./FormActions.js"

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Replacing the element while typing would lose the focus. */
export const controlKey = ({ kind }: Field): string => (kind === "long" || kind === "moment" ? "text" : kind)

/** The input of a scalar value. */
export const ScalarControl = ({
  field,
  hands,
  ...attributes
}: FieldProps & { readonly [name: string]: unknown }) => {
  const { kind, node, path } = field
  const state = fieldState(field)
  const placeholder = state === "value" ? undefined : state
  if (kind === "boolean" || kind === "choice") return <Choice field={field} hands={hands} {...attributes} />
  if (kind === "number" || kind === "integer") {
    const raw = state === "value" ? hands.text.slice(node!.from, node!.to) : ""
    return (
      <input
        {...attributes}
        dir="ltr"
        inputMode={kind === "integer" ? "numeric" : "decimal"}
        autocomplete="off"
        placeholder={placeholder}
        value={hands.typedAt(path) ?? raw}
        onInput={(event) => {
          const given = event.currentTarget.value
          const isNumber = number.test(given.trim())
          hands.setTyped(path, isNumber ? undefined : given)
          if (isNumber && given.trim() !== raw)
            hands.edit({ _tag: "Set", path, raw: given.trim() }, { isTyped: true })
        }}
      />
    )
  }
  return (
    <TextInput
      {...attributes}
      isLong={kind === "long"}
      dir="auto"
      autocomplete="off"
      spellcheck={kind !== "moment"}
      placeholder={placeholder}
      value={state === "value" ? (node as { readonly value: string }).value : ""}
      onInput={(event) =>
        hands.edit({ _tag: "Type", path, value: event.currentTarget.value }, { isTyped: true })
      }
    />
  )
}
