import { metadataNames } from "../../../domain/document/DocumentBody.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"

/** Limits of inference: fields per object, and nesting. */
const maxFields = 200
const maxDepth = 6

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** Whether a text is a date and time of RFC 3339. */
export const isMoment = (text: string): boolean => moment.test(text) && !Number.isNaN(Date.parse(text))

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const typeOf = (value: Json): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number"
  return typeof value
}

const objectOf = (objects: ReadonlyArray<JsonObject>, depth: number, hidden: ReadonlySet<string>) => {
  const values = new Map<string, Array<Json>>()
  for (const object of objects) {
    for (const [name, value] of Object.entries(object)) {
      if (hidden.has(name)) continue
      const seen = values.get(name)
      if (seen !== undefined) seen.push(value)
      else if (values.size < maxFields) values.set(name, [value])
    }
  }
  const required = [...values].flatMap(([name, found]) => (found.length === objects.length ? [name] : []))
  return {
    properties: Object.fromEntries([...values].map(([name, found]) => [name, schemaOf(found, depth + 1)])),
    ...(required.length === 0 ? {} : { required })
  }
}

const schemaOf = (values: ReadonlyArray<Json>, depth: number): JsonObject => {
  const types = new Set(values.map(typeOf))
  if (types.has("number")) types.delete("integer")
  const texts = values.filter((value) => typeof value === "string")
  const items = values.flatMap((value) => (Array.isArray(value) ? value : []))
  const objects = values.filter(isObject)
  const [type] = types
  return {
    ...(types.size === 0 ? {} : { type: types.size === 1 ? type! : [...types] }),
    ...(texts.length > 0 && texts.every(isMoment) ? { format: "date-time" } : {}),
    ...(items.length > 0 && depth < maxDepth ? { items: schemaOf(items, depth + 1) } : {}),
    ...(objects.length > 0 && depth < maxDepth ? objectOf(objects, depth, new Set()) : {})
  }
}

/** A JSON Schema that all documents match: the types that occur, and the fields that all have as required. */
export const inferSchema = (documents: ReadonlyArray<JsonObject>): JsonObject => ({
  type: "object",
  ...objectOf(documents, 0, new Set(metadataNames))
})
