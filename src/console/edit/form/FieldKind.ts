import type { Json, JsonObject } from "../../../domain/json/Json.js"
import type { FieldKind } from "./Field.js"
import type { JsonNode } from "./JsonNodes.js"
import { member, type ReadSchema } from "./SchemaReading.js"

/** More allowed values than this are not shown as a select. */
const maxChoices = 300

/** Longer texts get several lines. */
const longText = 80

const isScalar = (value: Json): boolean => typeof value !== "object"

const isLong = (schema: JsonObject, node: JsonNode | undefined) => {
  const most = member(schema, "maxLength")
  const value = node?.kind === "text" ? (node.value as string) : ""
  return (
    (typeof most === "number" && most > 2 * longText) ||
    member(schema, "contentMediaType") !== undefined ||
    value.length > longText ||
    /[\n\u2028\u2029]/.test(value)
  )
}

/** The kind of a value without a schema. */
const nodeKind = (node: JsonNode): FieldKind => {
  if (node.kind === "null") return "json"
  if (node.kind === "text") return isLong({}, node) ? "long" : "text"
  return node.kind
}

/** The kind of a value that matches the schema. */
export const schemaKind = ({ choices, schema, unknown }: ReadSchema): FieldKind => {
  if (unknown !== undefined) return "json"
  if (choices !== undefined && choices.length <= maxChoices) {
    return choices.every(isScalar) ? "choice" : "json"
  }
  if (choices !== undefined) return choices.every((one) => typeof one === "string") ? "text" : "json"
  switch (schema["type"]) {
    case "string":
      return member(schema, "format") === "date-time" ? "moment" : "text"
    case "number":
    case "integer":
    case "boolean":
    case "object":
      return schema["type"]
    case "array":
      return "list"
    default:
      return member(schema, "properties") === undefined ? "json" : "object"
  }
}

const nodeKinds: Readonly<Partial<Record<FieldKind, JsonNode["kind"]>>> = {
  text: "text",
  long: "text",
  moment: "text",
  number: "number",
  integer: "number",
  boolean: "boolean",
  list: "list",
  object: "object"
}

/** Whether a text has characters that a control would change: it is edited as JSON. */
export const hasChangedCharacters = (node: JsonNode | undefined): boolean =>
  node?.kind === "text" && /[\r\0]/.test(node.value as string)

/** The kind by the schema, or by the value if the value does not match the schema. */
export const fieldKind = (read: ReadSchema, node: JsonNode | undefined): FieldKind => {
  const kind = schemaKind(read)
  if (node === undefined || node.kind === "null") return kind
  if (kind === "choice") return node.kind === "object" || node.kind === "list" ? nodeKind(node) : kind
  if (hasChangedCharacters(node)) return "json"
  if (nodeKinds[kind] !== node.kind) return nodeKind(node)
  return kind === "text" && isLong(read.schema, node) ? "long" : kind
}
