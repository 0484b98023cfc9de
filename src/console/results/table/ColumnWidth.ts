import type { JsonObject } from "../../../domain/json/Json.js"
import { cellText, cellValue, isRounded } from "../../values/Cell.js"

/** Rows whose values a column's width is estimated from. */
const sampledRows = 60

const characterWidth = 7.6
const padding = 30

/** The estimated width in pixels that shows a column's values. */
export const estimatedWidth = (column: string, rows: ReadonlyArray<JsonObject>): number => {
  // The header also has the type and the arrow of the sort.
  let longest = column.length + 9
  for (const row of rows.slice(0, sampledRows)) {
    const value = cellValue(row, column)
    // Digits are as wide as the widest letters.
    const factor = typeof value === "number" ? 1.15 : 1
    longest = Math.max(longest, cellText(value).length * factor + (isRounded(value) ? 2 : 0))
  }
  return Math.round(Math.min(Math.max(longest, 6), column === "_id" ? 30 : 38) * characterWidth) + padding
}
