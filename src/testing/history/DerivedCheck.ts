import { Either } from "effect"
import {
  decodeIndexDefinition,
  type IndexDefinition,
  type IndexOptions
} from "../../domain/indexes/IndexDefinition.js"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../domain/json/Json.js"
import { settingsFileName } from "../../domain/settings/Settings.js"
import { canonical } from "../program/StoreModel.js"
import { doublesOf, indexRowsOf, manifestRowsOf, treeProblems } from "./DerivedTreeCheck.js"
import type { Snapshot } from "./HistoryReader.js"

/** Which collections have indexes and manifests, as the store was told. */
export interface DerivedFields {
  readonly indexes: Readonly<Record<string, ReadonlyArray<string | IndexOptions>>>
  readonly manifests: Readonly<Record<string, ReadonlyArray<string>>>
}

/** The indexes of a collection, as the store was told. */
export const definitionsOf = (indexes: DerivedFields["indexes"], collection: string) =>
  (indexes[collection] ?? []).map((given) => Either.getOrThrow(decodeIndexDefinition(given)))

const keyText = (value: Json): string =>
  typeof value === "string" ? value : Either.getOrElse(encodeInline(value), () => "")

const keysOf = (value: Json | undefined): ReadonlyArray<string> => {
  if (value === undefined) return []
  return Array.isArray(value) ? [...new Set((value as ReadonlyArray<Json>).map(keyText))] : [keyText(value)]
}

const documentsOf = ({ documents }: Snapshot, collection: string) =>
  Array.from(documents)
    .filter(([key]) => key.startsWith(`${collection}/`))
    .map(([key, document]) => ({ id: key.slice(collection.length + 1), document }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const compare = (name: string, actual: Json | undefined, expected: Json): ReadonlyArray<string> =>
  canonical(actual) === canonical(expected)
    ? []
    : [`${name} is ${canonical(actual)}, the documents say ${canonical(expected)}`]

const treeOf = (snapshot: Snapshot, collection: string, path: string, file: JsonObject) => {
  const tree = snapshot.trees.get(collection)
  return tree === undefined || file["tree"] === tree
    ? []
    : [`${path} is said to describe the tree ${String(file["tree"])}, it lies beside ${tree}`]
}

const checkIndex = (
  snapshot: Snapshot,
  collection: string,
  { fields, name }: IndexDefinition
): ReadonlyArray<string> => {
  const path = `_index/${collection}/${name}.json`
  const field = fields[0]!.path
  const file = snapshot.derived.get(path)
  const documents = documentsOf(snapshot, collection)
  if (file === undefined && documents.length === 0) return []
  if (!isObject(file)) return [`${path} is missing or unreadable`]
  const values = new Map<string, Array<string>>()
  const ids = new Map<string, ReadonlyArray<string>>()
  for (const { document, id } of documents) {
    const keys = keysOf(document[field])
    if (keys.length > 0) ids.set(id, keys)
    for (const key of keys) values.set(key, [...(values.get(key) ?? []), id])
  }
  return [
    ...compare(`${path} values`, file["values"], Object.fromEntries(values)),
    ...compare(`${path} ids`, file["ids"], Object.fromEntries(ids)),
    ...treeOf(snapshot, collection, path, file)
  ]
}

const checkManifest = (
  snapshot: Snapshot,
  collection: string,
  fields: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const path = `_manifest/${collection}.json`
  const file = snapshot.derived.get(path)
  const documents = documentsOf(snapshot, collection)
  if (file === undefined && documents.length === 0) return []
  if (!isObject(file)) return [`${path} is missing or unreadable`]
  const projected = documents.map(({ document, id }) => [
    id,
    Object.fromEntries(
      fields.flatMap((field) => (document[field] === undefined ? [] : [[field, document[field]]]))
    )
  ])
  return [
    ...compare(
      `${path} ids`,
      file["ids"],
      documents.map(({ id }) => id)
    ),
    ...compare(`${path} count`, file["count"], documents.length),
    ...compare(
      `${path} documents`,
      file["documents"],
      fields.length === 0 ? {} : Object.fromEntries(projected)
    ),
    ...treeOf(snapshot, collection, path, file)
  ]
}

/** The same for indexes and manifests of format 2. */
const checkTrees = (
  snapshot: Snapshot,
  collection: string,
  { indexes, manifests }: DerivedFields
): ReadonlyArray<string> => {
  const documents = documentsOf(snapshot, collection)
  const projected = manifests[collection]
  return [
    ...definitionsOf(indexes, collection).map((index) => ({
      path: `_index/${collection}/${index.name}`,
      rows: indexRowsOf(documents, index)
    })),
    ...(projected === undefined
      ? []
      : [{ path: `_manifest/${collection}`, rows: manifestRowsOf(documents, projected) }])
  ].flatMap(({ path, rows }) => treeProblems(snapshot, { collection, path, rows }))
}

/** The format that the settings of a commit record; undefined without settings. */
export const formatOf = ({ derived }: Snapshot): Json | undefined => {
  const settings = derived.get(settingsFileName)
  return isObject(settings) ? settings["format"] : undefined
}

const checkFiles = (snapshot: Snapshot, collection: string, fields: DerivedFields): ReadonlyArray<string> => [
  ...definitionsOf(fields.indexes, collection).flatMap((index) => checkIndex(snapshot, collection, index)),
  ...(fields.manifests[collection] === undefined
    ? []
    : checkManifest(snapshot, collection, fields.manifests[collection]))
]

/** Files of indexes that the collection does not have. */
const strayFiles = (snapshot: Snapshot, collection: string, { indexes }: DerivedFields) => {
  const names = new Set(definitionsOf(indexes, collection).map(({ name }) => name))
  const prefix = `_index/${collection}/`
  return [...snapshot.derived.keys()]
    .filter((path) => {
      if (!path.startsWith(prefix)) return false
      const [first, ...rest] = path.slice(prefix.length).split("/")
      return !names.has(rest.length === 0 ? first!.slice(0, -".json".length) : first!)
    })
    .map((path) => `${path} belongs to no index`)
}

/** What the index and manifest files of a collection get wrong at one commit; empty when they equal a rebuild. */
export const derivedProblems = (
  snapshot: Snapshot,
  collection: string,
  fields: DerivedFields
): ReadonlyArray<string> => [
  ...(formatOf(snapshot) === 2 ? checkTrees : checkFiles)(snapshot, collection, fields),
  ...strayFiles(snapshot, collection, fields)
]

/** Values of the unique indexes of a collection that two documents have at one commit. */
export const uniqueProblems = (
  snapshot: Snapshot,
  collection: string,
  { indexes }: Pick<DerivedFields, "indexes">
): ReadonlyArray<string> =>
  definitionsOf(indexes, collection)
    .filter(({ unique }) => unique)
    .flatMap((index) => doublesOf(index, documentsOf(snapshot, collection)))
