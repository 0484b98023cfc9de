import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { ConflictError, ValidationError } from "../../../domain/errors/StoreError.js"
import { collectionNameProblem } from "../../../domain/identifiers/CollectionName.js"
import { idProblem } from "../../../domain/identifiers/DocumentId.js"
import { encodeSliced, isPlainObject } from "../../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { CopyError, copyJson } from "../../../domain/json/JsonCopy.js"
import { type CollectionLike, nameIn } from "../../CollectionDefinition.js"
import { codecOf } from "../calls/Codec.js"
import type { DocumentOperation } from "../commit/DocumentEdit.js"
import { givenVersion, withoutMetadata } from "../commit/VersionCodec.js"

/** A queued operation; `document` is a copy, which the caller cannot change. */
export interface Queued {
  readonly kind: "put" | "insert" | "delete"
  readonly collection: string
  readonly id: string
  readonly document: JsonObject | undefined
}

export const keyOf = (collection: string, id: string): string => `${collection}/${id}`

const invalid = (operation: string, collection: string, id: string, message: string, path?: string) =>
  new ValidationError({
    operation,
    collection,
    id,
    message: `${collection}/${id}: ${message}`,
    ...(path === undefined ? {} : { issues: [{ path, message }] })
  })

/** Checks the names of a document; undefined if they are valid. */
export const checkNames = (operation: string, collection: string, id: string) => {
  const problem = collectionNameProblem(collection) ?? idProblem(id)
  return problem === undefined ? undefined : invalid(operation, collection, id, problem)
}

/**
 * Checks an operation for the queue. The document is copied, and encoded by the schema of a definition. With `anyId` an
 * `_id` in the document is ignored.
 */
export const queued = (
  operation: string,
  kind: Queued["kind"],
  given: CollectionLike,
  id: string,
  document: unknown,
  anyId = false
): Effect.Effect<Queued, ValidationError> =>
  Effect.suspend((): Effect.Effect<Queued, ValidationError> => {
    const collection = nameIn(given)
    const problem = checkNames(operation, collection, id)
    if (problem !== undefined) return problem
    if (kind === "delete") return Effect.succeed({ kind, collection, id, document: undefined })
    if (typeof given === "string") return copied(operation, kind, collection, id, document, anyId)
    const codec = codecOf(given)
    const place = { operation, collection, id, path: `${collection}/${id}` }
    return Effect.flatMap(codec.copy(place, document), (copy) =>
      Effect.flatMap(codec.encode(place, copy, anyId), (encoded) =>
        copied(operation, kind, collection, id, encoded, anyId)
      )
    )
  })

/** Copies and checks a document. */
const copied = (
  operation: string,
  kind: Queued["kind"],
  collection: string,
  id: string,
  given: unknown,
  anyId: boolean
): Effect.Effect<Queued, ValidationError> =>
  Effect.gen(function* () {
    if (!isPlainObject(given)) {
      return yield* invalid(operation, collection, id, "a document is a JSON object")
    }
    const copy = Either.try(() => copyJson(given) as JsonObject)
    if (Either.isLeft(copy)) {
      if (copy.left instanceof CopyError) {
        return yield* invalid(operation, collection, id, copy.left.message, copy.left.problem.path)
      }
      return yield* invalid(operation, collection, id, `the document cannot be read: ${copy.left}`)
    }
    const document = copy.right
    const carried = Object.hasOwn(document, "_id") ? document["_id"] : undefined
    if (!anyId && carried !== undefined && carried !== id) {
      return yield* invalid(
        operation,
        collection,
        id,
        `the document says that its _id is ${JSON.stringify(carried)}`,
        "_id"
      )
    }
    const content = withoutMetadata(document)
    const encoded = yield* encodeSliced(content)
    if (encoded._tag === "Left") {
      const { message, path } = encoded.left
      return yield* invalid(
        operation,
        collection,
        id,
        `${path === "" ? "the document" : path}: ${message}`,
        path
      )
    }
    return { kind, collection, id, document: content }
  })

/** The error for an insert of a document that the queue already writes. */
export const alreadyQueued = (operation: string, collection: string, id: string) =>
  new ConflictError({
    operation,
    collection,
    id,
    message: `${collection}/${id} is already written by this queue`,
    hint: "put replaces what was queued",
    conflicts: [{ collection, id, expected: null, actual: {} }]
  })

/**
 * Reduces the queue to one operation for each document, the last one. An insert requires an absent document even if
 * other operations follow it. Deleting a document that the same queue has put is no error if the document is missing.
 */
export const fold = (queue: ReadonlyArray<Queued>): ReadonlyArray<DocumentOperation> => {
  const last = new Map<
    string,
    { readonly item: Queued; readonly absent: boolean; readonly tolerant: boolean }
  >()
  for (const item of queue) {
    const key = keyOf(item.collection, item.id)
    const before = last.get(key)
    last.set(key, {
      item,
      absent: before?.absent === true || (item.kind === "insert" && before === undefined),
      tolerant: before !== undefined && (before.tolerant || before.item.kind !== "delete")
    })
  }
  return Array.from(last.values(), ({ absent, item, tolerant }) => ({
    collection: item.collection,
    id: item.id,
    needs: absent ? "absent" : item.kind === "delete" && !tolerant ? "present" : "any",
    next: () => Effect.succeed(givenVersion(item.document))
  }))
}
