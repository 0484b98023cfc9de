import { useMemo } from "preact/hooks"
import type { JsonObject } from "../../domain/json/Json.js"
import { compareValues } from "../../domain/json/JsonOrder.js"
import type { Sort } from "../../store/browse/Browse.js"
import { cellValue } from "../values/Cell.js"

/** Sorts rows by the store's order of values, missing values first. The sort is stable. */
export const useSortedRows = (
  documents: ReadonlyArray<JsonObject>,
  sort: ReadonlyArray<Sort>,
  sorted: boolean
): ReadonlyArray<JsonObject> =>
  useMemo(() => {
    if (sort.length === 0 || sorted) return documents
    return [...documents].sort((a, b) => {
      for (const { descending, path } of sort) {
        const order = compareValues(cellValue(a, path), cellValue(b, path))
        if (order !== 0) return descending ? -order : order
      }
      return 0
    })
  }, [documents, JSON.stringify(sort), sorted])
