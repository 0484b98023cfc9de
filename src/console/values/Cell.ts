import { valueAt } from "../../domain/json/FieldPath.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"

/** The value of a field or nested field (`price.amount`), own properties only. */
export const cellValue = (row: JsonObject, column: string): Json | undefined =>
  valueAt(row, column) as Json | undefined

const texts = new WeakMap<object, string>()

/** Caches the JSON of large values, which the table needs at every render. */
const textOf = (value: JsonObject | ReadonlyArray<Json>): string => {
  const cached = texts.get(value)
  if (cached !== undefined) return cached
  const text = JSON.stringify(value)
  texts.set(value, text)
  return text
}

/** The full text of a value, for cells, tooltips and the clipboard. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined) return ""
  if (typeof value === "string") return value
  return typeof value === "object" && value !== null ? textOf(value) : JSON.stringify(value)
}

/** Whether JavaScript may have rounded a number: integers beyond 2^53. */
export const isRounded = (value: Json | undefined): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)

/** Whether a value contains a rounded number. */
export const containsRounded = (value: Json): boolean => {
  const rest: Array<Json> = [value]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (isRounded(next)) return true
    if (typeof next === "object" && next !== null) for (const part of Object.values(next)) rest.push(part)
  }
  return false
}

export const roundedNote = "(rounded; the last digits in the file may differ)"

/** Directional formatting characters: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/g

/** Replaces directional formatting characters by their names, so that a value cannot reorder the displayed text. */
export const escapeBidi = (text: string): string =>
  text.replace(bidiControls, (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase()}]`)

/** The text of a cell, cut to 200 characters to keep the layout fast. */
export const truncated = (text: string): string =>
  escapeBidi(text.length > 200 ? `${text.slice(0, 200)}…` : text)

export const cellKind = (value: Json | undefined): string =>
  value === undefined ? "missing" : value === null ? "null" : Array.isArray(value) ? "list" : typeof value

/** An abbreviated commit id, or the name of a tag or branch. */
export const shortCommit = (at: string): string => (/^[0-9a-f]{40}$/.test(at) ? at.slice(0, 7) : at)
