import type { Oid } from "../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import type { Header } from "./Header.js"
import type { Entry } from "./Leaf.js"

/** The size of the leaf cache: the bytes of the rows and an overhead for each row. */
const maxBytes = 32 * 1024 * 1024
const rowOverhead = 150

const maxHeaders = 1000

/** Headers and leaves that were read or written, by the ids of their blobs. */
export interface TreeCache {
  readonly headers: LruCache<Header>
  /** The leaves of trees with this key function: see `RowMapping.keys`. */
  readonly leaves: (keys: string) => LeafCache
}

export interface LeafCache {
  readonly get: (oid: Oid) => ReadonlyArray<Entry> | undefined
  readonly set: (oid: Oid, entries: ReadonlyArray<Entry>) => void
}

export const makeTreeCache = (): TreeCache => {
  const leaves = new LruCache<ReadonlyArray<Entry>>(maxBytes, (entries) =>
    entries.reduce((sum, { weight }) => sum + weight + rowOverhead, rowOverhead)
  )
  return {
    headers: new LruCache<Header>(maxHeaders),
    leaves: (keys) => ({
      get: (oid) => leaves.get(`${oid} ${keys}`),
      set: (oid, entries) => void leaves.set(`${oid} ${keys}`, entries)
    })
  }
}
