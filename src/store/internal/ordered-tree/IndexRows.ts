import type { IndexField } from "../../../domain/indexes/IndexDefinition.js"
import { type SortValue, textPrefixKey, tupleSortKey } from "../../../domain/indexes/SortKey.js"
import { indexable, type LosslessJson } from "../../../domain/json/LosslessJson.js"
import type { KeyOf, Row } from "./Leaf.js"

const own = (row: Row, path: string): SortValue => (Object.hasOwn(row, path) ? row[path] : undefined)

/**
 * The key function of an index: the values of its fields, followed by the id. A manifest has no fields: its rows are
 * sorted by id.
 */
export const keyOfRows = (fields: ReadonlyArray<IndexField>): KeyOf => {
  const directions = fields.map(({ order }) => order)
  return (row) =>
    tupleSortKey(
      fields.map(({ path }) => own(row, path)),
      directions
    ) + textPrefixKey(String(row["_id"]))
}

/** One value of each field of an index. */
export type Values = ReadonlyArray<SortValue>

/** The most rows of a document that has lists in several fields. */
const maxCombinations = 10_000

/** All combinations of one value from each list. */
const combinations = (lists: ReadonlyArray<Values>): ReadonlyArray<Values> =>
  lists.reduce<ReadonlyArray<Values>>(
    (all, list) => all.flatMap((values) => list.map((value) => [...values, value])),
    [[]]
  )

const isList = (value: SortValue): value is ReadonlyArray<LosslessJson> => Array.isArray(value)

export type ValueOf = (path: string) => LosslessJson | undefined

const listsOf = (fields: ReadonlyArray<IndexField>, valueOf: ValueOf): ReadonlyArray<Values> =>
  fields.map(({ path }) => {
    const value = valueOf(path)
    return isList(value) && value.length > 0 ? value.map(indexable) : [indexable(value)]
  })

/** Whether the lists of a document have more combinations than an index may contain. */
export const hasTooMany = (fields: ReadonlyArray<IndexField>, valueOf: ValueOf): boolean => {
  if (fields.length === 1) return false
  const lengths = fields.map(({ path }) => {
    const value = valueOf(path)
    return isList(value) ? Math.max(1, value.length) : 1
  })
  const count = lengths.reduce((all, length) => all * length, 1)
  // A single list has as many rows as elements, without a limit.
  return count > maxCombinations && count > Math.max(...lengths)
}

/** The values of a document in the fields of an index, for each combination of elements of its lists. */
export const valuesOf = (fields: ReadonlyArray<IndexField>, valueOf: ValueOf): ReadonlyArray<Values> =>
  hasTooMany(fields, valueOf) ? [] : combinations(listsOf(fields, valueOf))

/**
 * The rows of a document in an index, by key: one, or one for each distinct element of a list. A missing field is
 * missing in the row too, so every document has a row, and the index alone determines the order of all documents. An
 * empty list is a value of its own. A document whose lists have too many combinations has no rows: see `hasTooMany`.
 */
export const indexRows = (
  fields: ReadonlyArray<IndexField>,
  id: string,
  valueOf: ValueOf
): ReadonlyMap<string, Row> => {
  const keyOf = keyOfRows(fields)
  const rows = new Map<string, Row>()
  for (const values of valuesOf(fields, valueOf)) {
    const members = fields.flatMap(({ path }, at): ReadonlyArray<[string, LosslessJson]> => {
      const value = values[at]
      return value === undefined ? [] : [[path, value]]
    })
    const row: Row = Object.fromEntries([...members, ["_id", id]])
    const key = keyOf(row)
    if (!rows.has(key)) rows.set(key, row)
  }
  return rows
}
