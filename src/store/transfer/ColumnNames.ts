import { ValidationError } from "../../domain/errors/StoreError.js"
import type { ImportRecord } from "./RecordSource.js"

/**
 * Makes column names unique. A second `id` becomes `id_2` (its position), and a column without a name becomes
 * `column_3`. The number rises until the name is free.
 */
export const uniqueColumns = (names: ReadonlyArray<string | null | undefined>): ReadonlyArray<string> => {
  const taken = new Set(names.filter((name) => name))
  const used = new Set<string>()
  return names.map((name, index) => {
    if (name && !used.has(name)) {
      used.add(name)
      return name
    }
    const stem = name || "column"
    let number = index + 1
    while (used.has(`${stem}_${number}`) || taken.has(`${stem}_${number}`)) number++
    const unique = `${stem}_${number}`
    used.add(unique)
    return unique
  })
}

/** A row as a record by column names. Throws a `ValidationError` if the number of values differs from the columns. */
export const rowRecord = (
  operation: string,
  columns: ReadonlyArray<string>,
  row: ReadonlyArray<unknown>
): ImportRecord => {
  if (row.length !== columns.length) {
    throw new ValidationError({
      operation,
      message: `a row has ${row.length} values for ${columns.length} columns`
    })
  }
  const record: Record<string, unknown> = Object.create(null)
  columns.forEach((column, index) => {
    record[column] = row[index]
  })
  return record
}
