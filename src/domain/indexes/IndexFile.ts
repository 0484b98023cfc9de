import * as Either from "effect/Either"
import type { Oid } from "../identifiers/Oid.js"
import { encode, JsonMap, type JsonProblem } from "../json/CanonicalJson.js"
import type { Json } from "../json/Json.js"
import { parseObject } from "../json/JsonText.js"
import type { LosslessObject } from "../json/LosslessJson.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { indexKeysOf } from "./IndexKey.js"

/**
 * The content of an index file: the documents by their values of one field, for one tree of the collection.
 *
 * @since 0.1.0
 * @category models
 */
export interface IndexFile {
  /** The sorted ids by the key of the value. */
  readonly values: ReadonlyMap<string, ReadonlyArray<string>>
  /** The keys by id, in the order of the values. */
  readonly ids: ReadonlyMap<string, ReadonlyArray<string>>
  /** The indexed field; undefined if the file does not name it. */
  readonly field?: string | undefined
  /** The tree of the collection that the file describes; undefined if another program wrote the file. */
  readonly tree: Oid | undefined
}

/** A changed document. `document` is the new content; undefined if it was deleted. */
export interface DocumentChange {
  readonly id: string
  readonly document: LosslessObject | undefined
  /** Reads the previous content; undefined if there was none. */
  readonly before?: (() => LosslessObject) | undefined
}

export const emptyIndex: IndexFile = { values: new Map(), ids: new Map(), tree: undefined }

/** The items of a list as texts, without nested lists and objects. */
export const textsOf = (list: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  list.filter((item) => typeof item !== "object").map(String)

const lists = (value: Json | undefined): Map<string, ReadonlyArray<string>> => {
  const found = new Map<string, ReadonlyArray<string>>()
  if (typeof value !== "object" || value === null || Array.isArray(value)) return found
  for (const [key, list] of Object.entries(value)) {
    if (Array.isArray(list)) found.set(key, textsOf(list))
  }
  return found
}

/**
 * Parses an index file, as leniently as the reference does. Undefined if it is not a JSON object.
 *
 * @since 0.1.0
 * @category text
 */
export const parseIndex = (content: Uint8Array): IndexFile | undefined =>
  Either.match(parseObject(content), {
    onLeft: () => undefined,
    onRight: (file) => ({
      values: lists(file["values"]),
      ids: lists(file["ids"]),
      field: typeof file["_index"] === "string" ? file["_index"] : undefined,
      tree: typeof file["tree"] === "string" ? (file["tree"] as Oid) : undefined
    })
  })

const place = (ids: ReadonlyArray<string>, id: string): number => {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareCodePoints(ids[middle]!, id) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Adds an id to a sorted list. */
export const withId = (ids: ReadonlyArray<string>, id: string): ReadonlyArray<string> => {
  const at = place(ids, id)
  return ids[at] === id ? ids : [...ids.slice(0, at), id, ...ids.slice(at)]
}

/** Removes an id from a sorted list. */
export const withoutId = (ids: ReadonlyArray<string>, id: string): ReadonlyArray<string> => {
  const at = place(ids, id)
  return ids[at] === id ? [...ids.slice(0, at), ...ids.slice(at + 1)] : ids
}

/** Applies document changes to an index. */
export const applyToIndex = (
  index: IndexFile,
  field: string,
  changes: ReadonlyArray<DocumentChange>
): IndexFile => {
  const values = new Map(index.values)
  const ids = new Map(index.ids)
  const removed = new Map<string, Array<string>>()
  const added = new Map<string, Array<string>>()
  const note = (lists: Map<string, Array<string>>, key: string, id: string) => {
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [id])
    else list.push(id)
  }
  for (const { document, id } of changes) {
    for (const key of ids.get(id) ?? []) note(removed, key, id)
    const keys = document !== undefined && Object.hasOwn(document, field) ? indexKeysOf(document[field]) : []
    if (keys.length === 0) ids.delete(id)
    else ids.set(id, keys)
    for (const key of keys) note(added, key, id)
  }
  for (const [key, fewer] of removed) {
    const before = values.get(key) ?? []
    const gone = new Set(fewer)
    const left = gone.size === 1 ? withoutId(before, fewer[0]!) : before.filter((id) => !gone.has(id))
    if (left.length === 0) values.delete(key)
    else values.set(key, left)
  }
  for (const [key, more] of added) {
    const before = values.get(key) ?? []
    values.set(
      key,
      more.length === 1
        ? withId(before, more[0]!)
        : [...new Set([...before, ...more])].sort(compareCodePoints)
    )
  }
  return { values, ids, field, tree: undefined }
}

/** The bytes of an index file. */
export const printIndex = (
  index: IndexFile,
  collection: string,
  field: string,
  updatedAt: string,
  tree: Oid
): Either.Either<Uint8Array, JsonProblem> =>
  encode({
    _index: field,
    collection,
    updated_at: updatedAt,
    values: new JsonMap(index.values),
    ids: new JsonMap(index.ids),
    tree
  })
