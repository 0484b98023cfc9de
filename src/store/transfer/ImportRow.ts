import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { idProblem } from "../../domain/identifiers/DocumentId.js"
import { encodeInline } from "../../domain/json/CanonicalJson.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { numbered } from "./ImportId.js"
import { normaliseRecord } from "./Normalise.js"

/**
 * What an import does with one record. `row` counts from 1.
 *
 * @since 0.1.0
 * @category models
 */
export interface ImportRow {
  /** The record's number, counted from 1. */
  readonly row: number
  /** The id of its document; absent where the record is refused before it has one. */
  readonly id?: string | undefined
  /** What was done with it; in a dry run, what would be. */
  readonly action: "insert" | "replace" | "unchanged" | "refuse"
  /** Why it is refused. */
  readonly reason?: string | undefined
}

/** A record as the document that it becomes. */
export interface Row {
  readonly row: number
  readonly id: string
  readonly document: JsonObject
  /** The text of the document: see `contentOf`. */
  readonly content: string
}

/** A record that can be stored, or why it cannot. */
export type Prepared = Either.Either<Row, ImportRow>

const metadata = new Set(["_id", "_rev", "_created_at", "_updated_at"])

/** Judges one record by itself. */
export const prepare = (
  record: unknown,
  row: number,
  idField: string,
  importId: string,
  check: (document: JsonObject) => Option.Option<string>
): Prepared => {
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
  const id = text === "" ? numbered(importId, row) : text
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

/** The text of a document without what the store itself writes into it. */
export const contentOf = (document: JsonObject): string => {
  const rest: Record<string, JsonObject[string]> = Object.create(null)
  for (const [key, value] of Object.entries(document)) if (!metadata.has(key)) rest[key] = value
  return Either.getOrElse(encodeInline(rest), ({ message, path }) => `${path}: ${message}`)
}

/**
 * The action for each row, in order, as if the rows before it were stored. `marks` holds the mark of each id seen
 * before; `stored` returns undefined if there is no document, none if its file holds none.
 */
export const judged = (
  rows: ReadonlyArray<Row>,
  marks: Map<string, string | undefined>,
  mark: (content: string) => string,
  stored: (id: string) => Option.Option<JsonObject> | undefined
): ReadonlyArray<ImportRow> =>
  rows.map(({ content, id, row }) => {
    const isNew = !marks.has(id)
    const there = isNew ? stored(id) : Option.none<JsonObject>()
    const before = isNew
      ? there && Option.getOrUndefined(Option.map(there, (document) => mark(contentOf(document))))
      : marks.get(id)
    const now = mark(content)
    marks.set(id, now)
    return { row, id, action: there === undefined ? "insert" : before === now ? "unchanged" : "replace" }
  })
