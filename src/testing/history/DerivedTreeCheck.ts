import type { IndexDefinition } from "../../domain/indexes/IndexDefinition.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { compareValues } from "../../domain/json/JsonOrder.js"
import { canonical } from "../program/StoreModel.js"
import type { Snapshot } from "./HistoryReader.js"

/** Where a tree of rows lies below the root, and the rows that the documents of its collection have in it. */
export interface ExpectedTree {
  readonly path: string
  readonly collection: string
  /** In the order of the tree. */
  readonly rows: ReadonlyArray<JsonObject>
}

interface Documents extends ReadonlyArray<{ readonly id: string; readonly document: JsonObject }> {}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const valueAt = (document: JsonObject, path: string): Json | undefined => {
  if (Object.hasOwn(document, path)) return document[path]
  return path
    .split(".")
    .reduce<Json | undefined>(
      (value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined),
      document
    )
}

const isEqual = (a: Json | undefined, b: Json | undefined): boolean => compareValues(a, b) === 0

const isHeld = ({ where }: IndexDefinition, document: JsonObject): boolean =>
  Array.from(where ?? []).every(([path, wanted]) => {
    const value = valueAt(document, path)
    return isEqual(value, wanted) || (Array.isArray(value) && value.some((one: Json) => isEqual(one, wanted)))
  })

type Tuple = ReadonlyArray<Json | undefined>

/** The values of a document in the fields of an index, for each element of a list. */
const tuplesOf = ({ fields }: IndexDefinition, document: JsonObject): ReadonlyArray<Tuple> => {
  let tuples: ReadonlyArray<Tuple> = [[]]
  for (const { path } of fields) {
    const value = valueAt(document, path)
    const list: Tuple = Array.isArray(value) && value.length > 0 ? value : [value]
    const distinct = list.filter((one, at) => list.findIndex((other) => isEqual(one, other)) === at)
    tuples = tuples.flatMap((tuple) => distinct.map((one) => [...tuple, one]))
  }
  return tuples
}

const compareTuples = ({ fields }: IndexDefinition, a: Tuple, b: Tuple): number => {
  for (const [at, { order }] of fields.entries()) {
    const compared = compareValues(a[at], b[at])
    if (compared !== 0) return order === "desc" ? -compared : compared
  }
  return 0
}

const heldBy = (index: IndexDefinition, documents: Documents) =>
  documents
    .filter(({ document }) => isHeld(index, document))
    .flatMap(({ document, id }) => tuplesOf(index, document).map((tuple) => ({ id, tuple })))
    .sort((a, b) => compareTuples(index, a.tuple, b.tuple) || compareValues(a.id, b.id))

/** The rows of an index: one for each element of a list, and one for each other document that it holds. */
export const indexRowsOf = (documents: Documents, index: IndexDefinition): ReadonlyArray<JsonObject> =>
  heldBy(index, documents).map(({ id, tuple }) => ({
    ...Object.fromEntries(
      index.fields.flatMap(({ path }, at) => (tuple[at] === undefined ? [] : [[path, tuple[at]]]))
    ),
    _id: id
  }))

const isSingular = (tuple: Tuple): boolean =>
  tuple.every(
    (value) => value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)
  )

/** What a document has in a unique index: no other document may have one of these. */
export const uniqueKeysOf = (index: IndexDefinition, document: JsonObject): ReadonlyArray<string> =>
  isHeld(index, document)
    ? tuplesOf(index, document)
        .filter(isSingular)
        .map((tuple) => canonical(tuple as ReadonlyArray<Json>))
    : []

/** Values of a unique index that two documents have. */
export const doublesOf = (index: IndexDefinition, documents: Documents): ReadonlyArray<string> => {
  const rows = heldBy(index, documents).filter(({ tuple }) => isSingular(tuple))
  return rows.flatMap(({ id, tuple }, at) => {
    const before = rows[at - 1]
    return before !== undefined && compareTuples(index, before.tuple, tuple) === 0
      ? [
          `${before.id} and ${id} have ${canonical(tuple as ReadonlyArray<Json>)} in the unique index ${index.name}`
        ]
      : []
  })
}

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
