import type { Json, JsonObject } from "../../domain/json/Json.js"

/** The JSON text of a value in a cell: keys are sorted, and a space follows each separator. */
export const jsonCellText = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(jsonCellText).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}: ${jsonCellText(item)}`).join(", ")}}`
}

/** The text of a value in a cell. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined || value === null) return ""
  return typeof value === "string" ? value : jsonCellText(value)
}
