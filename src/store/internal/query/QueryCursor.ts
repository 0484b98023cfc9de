import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"
import { sha256 } from "../../../git/Digest.js"

/*
 * A cursor contains the key of the last document of a page in the query's order, so the next page begins behind it, whatever
 * came or went meanwhile. A hash before it tells a cursor of this query from one of another, and from a damaged one.
 */

/** A place in the order of a query: behind a document. */
export interface CursorPosition {
  /** The key of the document. */
  readonly key: string
  /** The part of the key that its fields make: the rest is of its id. */
  readonly fields: string
}

const hashLength = 20

const hashOf = (collection: string, { order, predicate }: CheckedQuery, key: string): string =>
  sha256(JSON.stringify([collection, predicate, order, key])).slice(0, hashLength)

/** The cursor of a place. */
export const encodeCursor = (
  collection: string,
  query: CheckedQuery,
  { fields, key }: CursorPosition
): string => {
  const text = `${fields}.${key.slice(fields.length)}`
  return `${hashOf(collection, query, text)}.${text}`
}

/** The place that a cursor of a query names; undefined where the cursor is not of this query. */
export const decodeCursor = (
  collection: string,
  query: CheckedQuery,
  cursor: string
): CursorPosition | undefined => {
  const text = cursor.slice(hashLength + 1)
  if (cursor !== `${hashOf(collection, query, text)}.${text}`) return undefined
  const fields = text.slice(0, text.lastIndexOf("."))
  return { key: fields + text.slice(fields.length + 1), fields }
}
