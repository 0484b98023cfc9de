import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { cellValue } from "../values/Cell.js"

/** The columns that a table can show. */
export interface TableColumns {
  readonly all: ReadonlyArray<string>
  /** Those that are shown unless somebody chooses others. */
  readonly initial: ReadonlyArray<string>
  /** Columns whose values were not read: the rows come from a manifest without them. */
  readonly unread: ReadonlyArray<string>
}

const identity = ["_id", "_rev", "_updated_at"]

/** An object with more fields is a map: it stays one column. */
const maxSubfields = 20
const maxDepth = 3

/** Whether a column is a field, or a field inside of it. */
export const isWithin = (column: string, field: string): boolean =>
  column === field || column.startsWith(`${field}.`)

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The columns of a field that holds nothing but objects: their fields. */
const nestedColumns = (name: string, values: ReadonlyArray<Json>, levels: number): ReadonlyArray<string> => {
  if (levels === 0 || values.length === 0 || !values.every(isObject)) return [name]
  const keys = new Set<string>()
  for (const value of values) {
    const own = Object.keys(value)
    if (own.length === 0 || own.some((key) => key === "" || key.includes("."))) return [name]
    for (const key of own) keys.add(key)
    if (keys.size > maxSubfields) return [name]
  }
  return [...keys].flatMap((key) =>
    nestedColumns(
      `${name}.${key}`,
      values.filter((value) => Object.hasOwn(value, key)).map((value) => value[key]!),
      levels - 1
    )
  )
}

/**
 * The columns of an answer: `_id`, `_rev` and `_updated_at`, then the fields, with those of objects one by one,
 * `_created_at` last. Where a manifest could give the rows, its fields are shown at first, whatever gave them.
 */
export const tableColumns = (answer: QueryAnswer, whole: boolean): TableColumns => {
  const { documents, manifest, source } = answer
  const names = new Set([...identity, ...answer.columns])
  if (names.delete("_created_at")) names.add("_created_at")
  const all = [
    ...new Set(
      [...names].flatMap((name) =>
        nestedColumns(
          name,
          documents.map((row) => cellValue(row, name)).filter((value) => value !== undefined),
          maxDepth
        )
      )
    )
  ]
  const shown = whole || manifest === undefined ? undefined : [...identity, ...manifest.fields]
  return {
    all,
    initial:
      shown === undefined ? all : all.filter((column) => shown.some((field) => isWithin(column, field))),
    unread:
      source === "manifest"
        ? identity.slice(1).filter((column) => manifest?.fields.includes(column) !== true)
        : []
  }
}
