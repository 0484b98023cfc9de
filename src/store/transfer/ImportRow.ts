import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { idProblem } from "../../domain/identifiers/DocumentId.js"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { generatedId } from "./GeneratedId.js"
import { normaliseRecord } from "./Normalise.js"

/**
 * The action of an import for one record.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImportRow {
  /** The record's number, counted from 1. */
  readonly row: number
  /** The id of its document; absent if the record is rejected before it has an id. */
  readonly id?: string | undefined
  /** The action that was taken; in a dry run, the action that would be taken. */
  readonly action: "insert" | "replace" | "unchanged" | "refuse"
  /** Why the record is rejected. */
  readonly reason?: string | undefined
}

/** A valid record, converted to a document. */
export interface DocumentRow {
  readonly row: number
  readonly id: string
  readonly document: JsonObject
  /** The result of `contentOf`. */
  readonly content: string
}

/** A valid record, or the rejected row. */
export type PreparedRow = Either.Either<DocumentRow, ImportRow>

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

/** Converts and validates one record, independently of other records and of stored documents. */
export const prepareRow = (
  record: unknown,
  row: number,
  idField: string,
  importId: string,
  check: (document: JsonObject) => Option.Option<string>
): PreparedRow => {
  const refused = (reason: string, id?: string) =>
    Either.left<ImportRow>({ row, id, action: "refuse", reason })
  const normalised = Either.try({ try: () => normaliseRecord(record), catch: (error) => error as Error })
  if (Either.isLeft(normalised)) return refused(normalised.left.message)
  const given = Object.hasOwn(normalised.right, idField) ? normalised.right[idField] : null
  const text = (
    given === null || given === undefined
      ? ""
      : typeof given === "object"
        ? JSON.stringify(given)
        : String(given)
  ).trim()
  const id = text === "" ? generatedId(importId, row) : text
  const wrong = idProblem(id)
  if (wrong !== undefined) return refused(`${idField}: ${wrong}`, id)
  const document: Record<string, JsonObject[string]> = Object.create(null)
  for (const [key, value] of Object.entries(normalised.right)) if (!metadata.has(key)) document[key] = value
  const encoded = encodeInline(document)
  if (Either.isLeft(encoded)) return refused(`${encoded.left.path}: ${encoded.left.message}`, id)
  return Option.match(check(document), {
    onNone: () => Either.right({ row, id, document, content: encoded.right }),
    onSome: (reason) => refused(reason, id)
  })
}

/** The JSON text of a document without the metadata fields. */
export const contentOf = (document: JsonObject): string => {
  const rest: Record<string, JsonObject[string]> = Object.create(null)
  for (const [key, value] of Object.entries(document)) if (!metadata.has(key)) rest[key] = value
  return Either.getOrElse(encodeInline(rest), ({ message, path }) => `${path}: ${message}`)
}

/**
 * The action for each row, in order, as if the earlier rows were stored. `digests` maps each id that occurred before to
 * the digest of its content, and is updated. `stored` returns undefined if the document does not exist, and none if its
 * file contains no readable document.
 */
export const rowActions = (
  rows: ReadonlyArray<DocumentRow>,
  digests: Map<string, string | undefined>,
  digestOf: (content: string) => string,
  stored: (id: string) => Option.Option<JsonObject> | undefined
): ReadonlyArray<ImportRow> =>
  rows.map(({ content, id, row }) => {
    const isFirst = !digests.has(id)
    const found = isFirst ? stored(id) : Option.none<JsonObject>()
    const before = isFirst
      ? found && Option.getOrUndefined(Option.map(found, (document) => digestOf(contentOf(document))))
      : digests.get(id)
    const now = digestOf(content)
    digests.set(id, now)
    return { row, id, action: found === undefined ? "insert" : before === now ? "unchanged" : "replace" }
  })
