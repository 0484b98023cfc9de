import type { Json, JsonObject } from "../../domain/json/Json.js"
import type { QueryAnswer } from "../../store/browse/Browse.js"
import { cellValue } from "../values/Cell.js"

/** The columns of a result. */
export interface TableColumns {
  readonly all: ReadonlyArray<string>
  /** The columns that are shown by default. */
  readonly initial: ReadonlyArray<string>
  /** Columns whose values were not read, because the manifest does not include them. */
  readonly unread: ReadonlyArray<string>
}

const identity = ["_id", "_rev", "_updated_at"]

/** An object with more fields is treated as a map and stays one column. */
const maxSubfields = 20
const maxDepth = 3

/** Whether a column is a field or nested in it. */
export const isWithin = (column: string, field: string): boolean =>
  column === field || column.startsWith(`${field}.`)

const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * The columns of a field: one for each nested field if all values are objects or null. The field has a column of its own
 * if a value is null or empty, which is shown nowhere else.
 */
const nestedColumns = (name: string, values: ReadonlyArray<Json>, levels: number): ReadonlyArray<string> => {
  const objects = values.filter((value) => value !== null)
  if (levels === 0 || objects.length === 0 || !objects.every(isObject)) return [name]
  const keys = new Set<string>()
  let hasOwn = objects.length < values.length
  for (const value of objects) {
    const own = Object.keys(value)
    hasOwn ||= own.length === 0
    if (own.some((key) => key === "" || key.includes("."))) return [name]
    for (const key of own) keys.add(key)
    if (keys.size > maxSubfields) return [name]
  }
  const nested = [...keys].flatMap((key) =>
    nestedColumns(
      `${name}.${key}`,
      objects.filter((value) => Object.hasOwn(value, key)).map((value) => value[key]!),
      levels - 1
    )
  )
  return hasOwn ? [name, ...nested] : nested
}

/**
 * The columns of a result: `_id`, `_rev` and `_updated_at`, then the fields with nested fields, `_created_at` last.
 * If the collection has a manifest, its fields are shown by default, whether the rows came from it or not.
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
