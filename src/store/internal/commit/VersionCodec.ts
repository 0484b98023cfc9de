import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Steps from "../../../domain/concurrency/Steps.js"
import type { StoredDocument } from "../../../domain/document/Document.js"
import { bodyOf } from "../../../domain/document/DocumentBody.js"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { encodeSliced } from "../../../domain/json/CanonicalJson.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { mergeMembers } from "../../../domain/json/JsonCopy.js"
import {
  type InexactNumber,
  inexactNumbersSteps,
  parseObjectSliced,
  roundedWithin,
  sizeProblem
} from "../../../domain/json/JsonText.js"
import type { FileVersion } from "../../remote/GitRemote.js"
import type { StoredVersion } from "./DocumentEdit.js"
import type { NextVersion } from "./NextVersion.js"

/** Identifies a document in errors. */
export interface DocumentPlace {
  readonly operation: string
  readonly collection: string
  readonly id: string
  readonly path: string
}

const text = (value: Json | undefined): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

const revision = (value: Json | undefined): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0

const own = (document: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(document, key) ? document[key] : undefined

/** Parses a file as a version of a document. */
export const readVersion = (path: string, { content, oid }: FileVersion): Effect.Effect<StoredVersion> =>
  Effect.map(
    parseObjectSliced(content),
    Either.match({
      onLeft: (problem) => ({
        path,
        oid,
        content,
        document: Option.none(),
        problem,
        rev: 0,
        createdAt: undefined
      }),
      onRight: (document) => ({
        path,
        oid,
        content,
        document: Option.some(document),
        problem: undefined,
        rev: revision(own(document, "_rev")),
        createdAt: text(own(document, "_created_at"))
      })
    })
  )

/** The error for a file that contains no document. */
export const unreadableError = (place: DocumentPlace, problem: string): ValidationError =>
  new ValidationError({
    ...place,
    message: `${place.path} ${problem}`,
    hint: "it was edited manually: correct the file in a commit, or replace or delete the document"
  })

/**
 * Adds the metadata that a parsed file lacks. The id is that of the file's name; a file that the store never wrote has
 * revision 0 and empty times.
 */
export const withMetadata = (id: string, document: JsonObject): StoredDocument => {
  const mutable = document as { [key: string]: Json }
  mutable["_id"] = id
  if (revision(own(document, "_rev")) === 0) mutable["_rev"] = 0
  if (typeof own(document, "_created_at") !== "string") mutable["_created_at"] = ""
  if (typeof own(document, "_updated_at") !== "string") mutable["_updated_at"] = ""
  return mutable as StoredDocument
}

/** Parses the file of a document. */
export const readDocument = (
  place: DocumentPlace,
  content: Uint8Array
): Effect.Effect<StoredDocument, ValidationError> =>
  Effect.flatMap(
    parseObjectSliced(content),
    Either.mapBoth({
      onLeft: (problem) => unreadableError(place, problem),
      onRight: (document) => withMetadata(place.id, document)
    })
  )

/** A document without the fields that the store maintains. */
export const withoutMetadata = <V>(document: { readonly [key: string]: V }): { readonly [key: string]: V } =>
  Steps.runSync(bodyOf(document))

const decoder = new TextDecoder("utf-8", { fatal: true })

function* inexactIn(content: Uint8Array): Steps.Steps<ReadonlyArray<InexactNumber>> {
  try {
    return yield* inexactNumbersSteps(decoder.decode(content))
  } catch {
    return []
  }
}

/** A number of the files from which a document came that JavaScript has changed in the document. */
export function* changedNumber(
  document: JsonObject,
  sources: ReadonlyArray<Uint8Array>
): Steps.Steps<InexactNumber | undefined> {
  for (const content of sources) {
    const lost = yield* roundedWithin(document, yield* inexactIn(content))
    if (lost !== undefined) return lost
  }
  return undefined
}

export const changedNumberProblem = ({ path, text }: InexactNumber): string =>
  `the number ${text} at ${path} cannot be written again without changing it`

/** The next version with a content that a caller gave; nothing deletes the document. */
export const givenVersion = (document: JsonObject | null | undefined): NextVersion => ({
  document: Option.fromNullable(document),
  numberSources: []
})

/** The next version with the content of a past version; without a past version, the document is deleted. */
export const pastVersion = (past: StoredVersion | undefined): NextVersion => ({
  document: Option.map(
    Option.flatMap(Option.fromNullable(past), (version) => version.document),
    withoutMetadata
  ),
  createdAt: past?.createdAt,
  rev: past?.rev,
  numberSources: past === undefined ? [] : [past.content]
})

/** The bytes of the next version of a document, including its metadata. */
export const writeVersion = (
  place: DocumentPlace,
  document: JsonObject,
  next: NextVersion,
  stored: Option.Option<StoredVersion>,
  now: string
): Effect.Effect<{ readonly document: StoredDocument; readonly content: Uint8Array }, ValidationError> =>
  Effect.gen(function* () {
    const readable = Option.filter(stored, ({ problem }) => problem === undefined)
    const sources = [...next.numberSources, ...Option.toArray(Option.map(readable, (one) => one.content))]
    const lost = yield* Steps.run(() => changedNumber(document, sources))
    if (lost !== undefined) {
      return yield* new ValidationError({
        ...place,
        message: `${place.path}: ${changedNumberProblem(lost)}`,
        hint: "replace the value of that field, for example with the number as text",
        issues: [{ path: lost.path, message: `${lost.text} is not exactly a JavaScript number` }]
      })
    }
    const before = Option.getOrUndefined(Option.filter(stored, (version) => Option.isSome(version.document)))
    const metadata = {
      _id: place.id,
      _rev: (before?.rev ?? next.rev ?? 0) + 1,
      _created_at: (before === undefined ? next.createdAt : before.createdAt) ?? now,
      _updated_at: now
    }
    const complete = (yield* Steps.run(() => mergeMembers(document, metadata))) as StoredDocument
    const encoded = yield* encodeSliced(complete)
    const { message, path } = Either.isLeft(encoded)
      ? encoded.left
      : { path: "", message: yield* Steps.run(() => sizeProblem(encoded.right)) }
    if (message === undefined) return { document: complete, content: Either.getOrThrow(encoded) }
    return yield* new ValidationError({
      ...place,
      message: `${place.collection}/${place.id}: ${path === "" ? "the document" : path}: ${message}`,
      issues: [{ path, message }]
    })
  })
