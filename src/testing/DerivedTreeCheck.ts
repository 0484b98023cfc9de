import type { Json, JsonObject } from "../domain/Document.js"
import { compareValues } from "../domain/JsonOrder.js"
import type { Snapshot } from "./HistoryReader.js"
import { canonical } from "./StoreModel.js"

/** Where a tree of rows lies below the root, and the rows that the documents of its collection have in it. */
export interface ExpectedTree {
  readonly path: string
  readonly collection: string
  /** In the order of the tree. */
  readonly rows: ReadonlyArray<JsonObject>
}

/** The rows of an index: one for each element of a list, and one for each other document. */
export const indexRowsOf = (
  documents: ReadonlyArray<{ readonly id: string; readonly document: JsonObject }>,
  field: string
): ReadonlyArray<JsonObject> =>
  documents
    .flatMap(({ document, id }) => {
      const value = Object.hasOwn(document, field) ? document[field] : undefined
      const list: ReadonlyArray<Json | undefined> = Array.isArray(value) && value.length > 0 ? value : [value]
      const distinct = list.filter(
        (one, at) => list.findIndex((other) => compareValues(one, other) === 0) === at
      )
      return distinct.map((one): JsonObject => ({ ...(one === undefined ? {} : { [field]: one }), _id: id }))
    })
    .sort((a, b) => compareValues(a[field], b[field]) || compareValues(a["_id"], b["_id"]))

/** The rows of a manifest: one for each document, in order of id. */
export const manifestRowsOf = (
  documents: ReadonlyArray<{ readonly id: string; readonly document: JsonObject }>,
  fields: ReadonlyArray<string>
): ReadonlyArray<JsonObject> =>
  documents.map(({ document, id }) => ({
    ...Object.fromEntries(fields.flatMap((name) => (name in document ? [[name, document[name]!]] : []))),
    _id: id
  }))

/** What the files of a tree get wrong at one commit: their rows, read in the order of their names, and the header. */
export const treeProblems = (
  { derived, trees }: Snapshot,
  { collection, path, rows }: ExpectedTree
): ReadonlyArray<string> => {
  const header = derived.get(`${path}/_header.json`) as JsonObject | undefined
  const leaves = [...derived].filter(([name]) => name.startsWith(`${path}/rows/`))
  if (header === undefined && leaves.length === 0 && rows.length === 0) return []
  if (header === undefined) return [`${path} has no header`]
  const stored = leaves
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, leaf]) => leaf as ReadonlyArray<Json>)
  const tree = trees.get(collection)
  return [
    ...(canonical(stored) === canonical(rows)
      ? []
      : [`${path} has the rows ${canonical(stored)}, the documents say ${canonical(rows)}`]),
    ...(header["format"] === 2 ? [] : [`${path} is of format ${canonical(header["format"])}`]),
    ...(header["count"] === rows.length
      ? []
      : [`${path} counts ${canonical(header["count"])} rows, there are ${rows.length}`]),
    ...(tree === undefined || header["tree"] === tree
      ? []
      : [`${path} is said to describe the tree ${String(header["tree"])}, it lies beside ${tree}`])
  ]
}
