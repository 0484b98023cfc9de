import { useMemo } from "preact/hooks"
import type { JsonObject } from "../domain/Document.js"
import { compareValues } from "../domain/JsonOrder.js"
import type { Sort } from "../store/browse/Browse.js"
import { valueOf } from "./Cell.js"

/** The rows by the order of JSON values, of which what is missing is the least; equal ones keep the order that they came in. */
export const useRows = (
  documents: ReadonlyArray<JsonObject>,
  sort: Sort | undefined,
  sorted: boolean
): ReadonlyArray<JsonObject> =>
  useMemo(() => {
    if (sort === undefined || sorted) return documents
    const { descending, path } = sort
    const sign = descending ? -1 : 1
    return [...documents].sort((a, b) => sign * compareValues(valueOf(a, path), valueOf(b, path)))
  }, [documents, sort?.path, sort?.descending, sorted])
