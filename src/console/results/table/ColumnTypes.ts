import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { cellKind, cellValue } from "../../values/Cell.js"
import { isDate } from "../../values/DateText.js"

/** Rows whose values determine the type of a column. */
const sampledRows = 200

/** The types of columns and their abbreviations in the header. */
export const columnTypes = {
  text: "text",
  number: "num",
  boolean: "bool",
  date: "date",
  list: "list",
  object: "obj",
  mixed: "mixed"
} as const

export type ColumnType = keyof typeof columnTypes

const typeOf = (value: Json): ColumnType => {
  const kind = cellKind(value)
  return kind === "string" ? (isDate(value) ? "date" : "text") : (kind as ColumnType)
}

/** The type that all values of a column have; undefined if it has none but null. */
export const columnType = (column: string, rows: ReadonlyArray<JsonObject>): ColumnType | undefined => {
  let found: ColumnType | undefined
  for (const row of rows.slice(0, sampledRows)) {
    const value = cellValue(row, column)
    if (value === undefined || value === null) continue
    const type = typeOf(value)
    if (found !== undefined && found !== type) return "mixed"
    found = type
  }
  return found
}
