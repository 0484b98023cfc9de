import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"
import { sha256 } from "../../../git/Digest.js"

/*
 * A cursor contains the sort key of the last document of a page. The next page starts after this key, whichever
 * documents were added or removed meanwhile. A hash of the query precedes the key, so that cursors of other queries and
 * damaged cursors are rejected.
 */

/** A position in the order of a query: after a document. */
export interface CursorPosition {
  /** The sort key of the document. */
  readonly key: string
  /** The part of the key that comes from the fields; the rest comes from the id. */
  readonly fields: string
}

const hashLength = 20

const hashOf = (collection: string, { order, predicate }: CheckedQuery, key: string): string =>
  sha256(JSON.stringify([collection, predicate, order, key])).slice(0, hashLength)

/** Encodes a position as a cursor of a query. */
export const encodeCursor = (
  collection: string,
  query: CheckedQuery,
  { fields, key }: CursorPosition
): string => {
  const text = `${fields}.${key.slice(fields.length)}`
  return `${hashOf(collection, query, text)}.${text}`
}

/** Decodes a cursor; undefined if it is not a cursor of this query. */
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
