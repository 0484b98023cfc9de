import type { Field } from "./Field.js"
import { schemaKind } from "./FieldKind.js"
import { member } from "./SchemaReading.js"

/** The JSON of a field that was null or absent and gets a value. */
export const initialValue = ({
  choices,
  kind,
  schema
}: Pick<Field, "choices" | "kind" | "schema">): string => {
  const given = member(schema, "default")
  const isGiven = given !== undefined && given !== null
  if (isGiven) return JSON.stringify(given)
  if (choices.length > 0) return JSON.stringify(choices[0])
  switch (kind) {
    case "moment":
      return JSON.stringify(new Date().toISOString())
    case "number":
    case "integer":
      return "0"
    case "boolean":
      return "false"
    case "list":
      return "[]"
    case "object":
      return "{}"
    case "json":
      return "null"
    default:
      return '""'
  }
}

/** The JSON of a new list item. */
export const newItem = (list: Field): string => {
  const last = list.parts.at(-1)
  const kind = list.item === undefined ? "json" : schemaKind(list.item)
  return initialValue({
    choices: list.item?.choices ?? [],
    kind: kind === "json" ? (last?.kind ?? "text") : kind,
    schema: list.item?.schema ?? {}
  })
}
