import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"

/*
 * A cursor is the key of the last document of a page in the query's order, so the next page begins behind it, whatever came or
 * went meanwhile. A hash before it tells a cursor of this query from one of another, and from a damaged one.
 */

const hashLength = 20

const hashOf = (collection: string, { order, predicate }: CheckedQuery, key: string): string =>
  bytesToHex(sha256(utf8ToBytes(JSON.stringify([collection, predicate, order, key])))).slice(0, hashLength)

/** The cursor behind the document with a key. */
export const cursorAfter = (collection: string, query: CheckedQuery, key: string): string =>
  `${hashOf(collection, query, key)}.${key}`

/** The key in the cursor of a query; undefined where the cursor is not of this query. */
export const keyIn = (collection: string, query: CheckedQuery, cursor: string): string | undefined => {
  const key = cursor.slice(hashLength + 1)
  return cursor === cursorAfter(collection, query, key) ? key : undefined
}
