import * as Either from "effect/Either"
import type { Oid } from "../identifiers/Oid.js"
import { encode, encodeInline, JsonMap, type JsonProblem } from "../json/CanonicalJson.js"
import type { JsonObject } from "../json/Json.js"
import { parseObject } from "../json/JsonText.js"
import { type LosslessJson, type LosslessObject, parseLossless } from "../json/LosslessJson.js"
import { LosslessNumber } from "../json/NumberText.js"
import { compareCodePoints } from "../text/CodePointOrder.js"
import { type DocumentChange, textsOf, withId, withoutId } from "./IndexFile.js"

/**
 * The content of a manifest file: the ids of a collection and some fields of its documents, for one tree of it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManifestFile<Fields extends LosslessObject = JsonObject> {
  /** Sorted. */
  readonly ids: ReadonlyArray<string>
  /** The projected fields of every document, by id. */
  readonly documents: ReadonlyMap<string, Fields>
  /** The tree of the collection that the file describes; undefined if another program wrote the file. */
  readonly tree: Oid | undefined
}

export const emptyManifest: ManifestFile = { ids: [], documents: new Map(), tree: undefined }

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof LosslessNumber)

const manifestOf = <Fields extends LosslessObject>(file: Fields): ManifestFile<Fields> => {
  const ids = Array.isArray(file["ids"]) ? textsOf(file["ids"]) : []
  const documents = isObject(file["documents"]) ? Object.entries(file["documents"]) : []
  return {
    ids: [...new Set(ids)].sort(compareCodePoints),
    documents: new Map(documents.filter((entry): entry is [string, Fields] => isObject(entry[1]))),
    tree: typeof file["tree"] === "string" ? (file["tree"] as Oid) : undefined
  }
}

/**
 * Parses a manifest file. Undefined if it is not a JSON object.
 *
 * @since 0.1.0
 * @category text
 */
export const parseManifestFile = (content: Uint8Array): ManifestFile | undefined =>
  Either.getOrUndefined(Either.map(parseObject(content), manifestOf))

/** Parses a manifest file and keeps the spelling of its numbers, for writing it again. */
export const parseLosslessManifest = (content: Uint8Array): ManifestFile<LosslessObject> | undefined =>
  Either.getOrUndefined(Either.map(parseLossless(content), manifestOf))

/** The projected fields of a manifest that has no settings: all fields of its entries. */
export const projectedFields = (manifest: ManifestFile<LosslessObject>): ReadonlyArray<string> => {
  const fields = new Set<string>()
  for (const document of manifest.documents.values()) {
    for (const field of Object.keys(document)) fields.add(field)
  }
  return [...fields].sort(compareCodePoints)
}

/** Whether a value can be written in the manifest, where it is nested three levels deeper. */
const isPrintable = (value: LosslessJson): boolean =>
  typeof value === "number"
    ? Number.isFinite(value)
    : typeof value !== "object" || value === null || Either.isRight(encodeInline([[[value]]]))

const project = (document: LosslessObject, fields: ReadonlyArray<string>): LosslessObject =>
  Object.fromEntries(
    fields
      .filter((field) => Object.hasOwn(document, field) && isPrintable(document[field]!))
      .map((field) => [field, document[field]!])
  )

/** Applies document changes to a manifest. */
export const applyToManifest = (
  manifest: ManifestFile<LosslessObject>,
  fields: ReadonlyArray<string>,
  changes: ReadonlyArray<DocumentChange>
): ManifestFile<LosslessObject> => {
  const documents = new Map(manifest.documents)
  let ids = manifest.ids
  const many = changes.length > 16 ? new Set(ids) : undefined
  for (const { document, id } of changes) {
    if (document === undefined) {
      documents.delete(id)
      if (many === undefined) ids = withoutId(ids, id)
      else many.delete(id)
    } else {
      documents.set(id, project(document, fields))
      if (many === undefined) ids = withId(ids, id)
      else many.add(id)
    }
  }
  if (many !== undefined) ids = [...many].sort(compareCodePoints)
  return { ids, documents: fields.length === 0 ? new Map() : documents, tree: undefined }
}

/** The bytes of a manifest file. */
export const printManifest = (
  manifest: ManifestFile<LosslessObject>,
  collection: string,
  updatedAt: string,
  tree: Oid
): Either.Either<Uint8Array, JsonProblem> =>
  encode({
    collection,
    updated_at: updatedAt,
    count: manifest.ids.length,
    ids: manifest.ids,
    documents: new JsonMap(manifest.documents),
    tree
  })
