import type { JsonObject } from "../../domain/json/Json.js"

const fieldsOf = (documents: Iterable<JsonObject>): Set<string> => {
  const seen = new Set<string>()
  for (const document of documents) for (const key of Object.keys(document)) seen.add(key)
  return seen
}

const tableStart = ["_id", "_rev", "_updated_at"]
const exportStart = ["_id", "_rev", "_created_at", "_updated_at"]

/**
 * The columns of a table of documents: `_id`, `_rev`, `_updated_at`, then every field, `_created_at` last.
 *
 * @since 0.1.0
 * @category queries
 */
export const columnsOf = (documents: Iterable<JsonObject>): ReadonlyArray<string> => {
  const seen = fieldsOf(documents)
  const created = seen.delete("_created_at")
  for (const column of tableStart) seen.delete(column)
  return [...tableStart, ...seen, ...(created ? ["_created_at"] : [])]
}

/** The columns of an export: the metadata that there is, then the fields in the order in which they are first seen. */
export const exportColumnsOf = (documents: Iterable<JsonObject>): ReadonlyArray<string> =>
  exportOrder(fieldsOf(documents))

/** The same of fields that were seen already. */
export const exportOrder = (seen: ReadonlySet<string>): ReadonlyArray<string> => [
  ...exportStart.filter((field) => seen.has(field)),
  ...[...seen].filter((field) => !exportStart.includes(field))
]
