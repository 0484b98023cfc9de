import { useRef } from "preact/hooks"
import { Choice } from "./Choice.js"
import { type Field, fieldState } from "./Field.js"
import type { FieldProps } from "./FormActions.js"

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A text keeps its element when it becomes long. */
export const controlKey = ({ kind }: Field): string => (kind === "long" ? "text" : kind)

/** The input of a scalar value. */
export const ScalarControl = ({
  field,
  hands,
  ...attributes
}: FieldProps & { readonly [name: string]: unknown }) => {
  const { kind, node, path } = field
  // Replacing the element while typing would lose the focus, but an input element would remove line breaks.
  const wasLong = useRef(kind === "long")
  if (kind === "long" && /[\n\u2028\u2029]/.test((node as { readonly value: string }).value))
    wasLong.current = true
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
  const common = {
    ...attributes,
    dir: "auto" as const,
    autocomplete: "off",
    placeholder,
    value: state === "value" ? (node as { readonly value: string }).value : "",
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      hands.edit({ _tag: "Type", path, value: event.currentTarget.value }, { isTyped: true })
  }
  return wasLong.current ? (
    <textarea rows={4} {...common} />
  ) : (
    <input {...common} spellcheck={kind === "text"} />
  )
}
