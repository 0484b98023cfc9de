import type { Json, JsonObject } from "../domain/Document.js"

/** A field of a document; nothing from its prototype. */
export const own = (row: JsonObject, column: string): Json | undefined =>
  Object.hasOwn(row, column) ? row[column] : undefined

/** The whole text of a value, as a cell, a tooltip and the clipboard show it. */
export const cellText = (value: Json | undefined): string => {
  if (value === undefined) return ""
  if (typeof value === "string") return value
  return JSON.stringify(value)
}

/** A whole number beyond 2^53 is what JavaScript makes of the digits in the file, which may have been others. */
export const isRounded = (value: Json | undefined): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)

export const rounded = "(as JavaScript holds it; the last digits in the file may differ)"

/** What a cell shows: no more than it can hold, so that a megabyte does not become a megabyte of layout. */
export const clipped = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text)

export const kindOf = (value: Json | undefined): string =>
  value === undefined ? "missing" : value === null ? "null" : Array.isArray(value) ? "list" : typeof value
