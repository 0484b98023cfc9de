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
 * What a manifest file says: the ids of a collection and some fields of its documents, for one of its trees.
 *
 * @since 0.1.0
 * @category models
 */
export interface ManifestFile<Fields extends LosslessObject = JsonObject> {
  /** Sorted. */
  readonly ids: ReadonlyArray<string>
  /** The projected fields of every document, by id. */
  readonly documents: ReadonlyMap<string, Fields>
  /** The tree of the collection that it describes; none where another program wrote the file. */
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
 * Reads a manifest file; none when it contains no JSON object.
 *
 * @since 0.1.0
 * @category text
 */
export const parseManifestFile = (content: Uint8Array): ManifestFile | undefined =>
  Either.getOrUndefined(Either.map(parseObject(content), manifestOf))

/** Reads a manifest file that is to be written again: its numbers stay as they are spelled. */
export const parseLosslessManifest = (content: Uint8Array): ManifestFile<LosslessObject> | undefined =>
  Either.getOrUndefined(Either.map(parseLossless(content), manifestOf))

/** The fields that a manifest without settings projects: those that any of its documents shows. */
export const projectedFields = (manifest: ManifestFile<LosslessObject>): ReadonlyArray<string> => {
  const fields = new Set<string>()
  for (const document of manifest.documents.values()) {
    for (const field of Object.keys(document)) fields.add(field)
  }
  return [...fields].sort(compareCodePoints)
}

/** A number beyond all bounds, or what is nested too deeply three levels down, would keep the file from being written. */
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

/** The manifest after some documents changed. */
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
      if (fields.length > 0) documents.set(id, project(document, fields))
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
