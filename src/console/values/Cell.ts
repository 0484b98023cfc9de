import { valueAt } from "../../domain/json/FieldPath.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"

/** A field of a document, also one inside of an object (`price.amount`); nothing from its prototype. */
export const cellValue = (row: JsonObject, column: string): Json | undefined =>
  valueAt(row, column) as Json | undefined

const texts = new WeakMap<object, string>()

/** What is a megabyte of text is made once, not whenever the table is drawn. */
const textOf = (value: JsonObject | ReadonlyArray<Json>): string => {
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = JSON.stringify(value)
  texts.set(value, text)
  return text
}

/** The whole text of a value, as a cell, a tooltip and the clipboard show it. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined) return ""
  if (typeof value === "string") return value
  return typeof value === "object" && value !== null ? textOf(value) : JSON.stringify(value)
}

/** A whole number beyond 2^53 is what JavaScript makes of the digits in the file, which may have been others. */
export const isRounded = (value: Json | undefined): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)

/** Whether a value contains such a number. */
export const containsRounded = (value: Json): boolean => {
  const rest: Array<Json> = [value]
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (isRounded(next)) return true
    if (typeof next === "object" && next !== null) for (const part of Object.values(next)) rest.push(part)
  }
  return false
}

export const roundedNote = "(rounded; the last digits in the file may differ)"

/** Characters that order, embed or isolate the text behind them: https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters */
const bidiControls = /[\u202A-\u202E\u2066-\u2069]/g

/** A text with its directional formatting characters by name, so that no value can reorder what a person reads. */
export const escapeBidi = (text: string): string =>
  text.replace(bidiControls, (character) => `[U+${character.charCodeAt(0).toString(16).toUpperCase()}]`)

/** What a cell shows: no more than it can hold, so that a megabyte does not become a megabyte of layout. */
export const truncated = (text: string): string =>
  escapeBidi(text.length > 200 ? `${text.slice(0, 200)}…` : text)

export const cellKind = (value: Json | undefined): string =>
  value === undefined ? "missing" : value === null ? "null" : Array.isArray(value) ? "list" : typeof value

/** A commit as people name it: the beginning of its id, or the name of a tag or branch. */
export const shortCommit = (at: string): string => (/^[0-9a-f]{40}$/.test(at) ? at.slice(0, 7) : at)
