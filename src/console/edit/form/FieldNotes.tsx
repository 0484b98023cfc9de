import { type Field, fieldId, fieldState } from "./Field.js"
import type { FieldProps, FormActions } from "./FormActions.js"

const problemIn = (field: Field, { typedAt }: FormActions): string | undefined => {
  const typed = typedAt(field.path)
  if (typed === undefined) return field.problem
  if (typed.trim() !== "") return `${typed.trim()} is not a number. The document keeps its value.`
  return fieldState(field) === "value"
    ? "Enter a number, or select another type next to the field."
    : field.problem
}

/** The help and the problem of a field, and the attributes that refer to them. */
export const fieldNotes = ({ field, hands }: FieldProps) => {
  const id = fieldId(field.path)
  const problem = problemIn(field, hands)
  const described = [field.help && `${id}-help`, problem && `${id}-problem`].filter(Boolean).join(" ")
  return {
    attributes: {
      id,
      "aria-describedby": described === "" ? undefined : described,
      "aria-required": field.optional ? undefined : ("true" as const),
      "aria-invalid": problem === undefined ? undefined : ("true" as const)
    },
    notes: (
      <>
        {field.help ? (
          <p class="help" id={`${id}-help`}>
            {field.help}
          </p>
        ) : null}
        {problem === undefined ? null : (
          <p class="wrong" id={`${id}-problem`}>
            {problem}
          </p>
        )}
      </>
    )
  }
}
