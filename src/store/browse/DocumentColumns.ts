const tableStart = ["_id", "_rev", "_updated_at"]

/**
 * The columns of a table of documents: `_id`, `_rev`, `_updated_at`, then every field, `_created_at` last.
 *
 * @since 0.1.0
 * @category queries
 */
export const columnsOf = (
  documents: Iterable<{ readonly [field: string]: unknown }>
): ReadonlyArray<string> => {
  const seen = new Set<string>()
  for (const document of documents) for (const key of Object.keys(document)) seen.add(key)
  const created = seen.delete("_created_at")
  for (const column of tableStart) seen.delete(column)
  return [...tableStart, ...seen, ...(created ? ["_created_at"] : [])]
}
