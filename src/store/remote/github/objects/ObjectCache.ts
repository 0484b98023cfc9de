import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { TreeEntry } from "../../GitRemote.js"

/** A bounded cache of immutable data: objects by id, and the ids at paths of a root tree. */
export interface ObjectCache {
  readonly blob: (oid: Oid) => Uint8Array | undefined
  readonly putBlob: (oid: Oid, content: Uint8Array) => void
  /** The direct entries of a tree. */
  readonly tree: (oid: Oid) => ReadonlyArray<TreeEntry> | undefined
  readonly putTree: (oid: Oid, entries: ReadonlyArray<TreeEntry>) => void
  /** The tree id at `path` of a root tree; null: there is no directory. */
  readonly directory: (root: Oid, path: string) => Oid | null | undefined
  readonly putDirectories: (root: Oid, places: ReadonlyMap<string, Oid | null>) => void
  /** The blob id at `path` of a root tree; null: there is no file. Only for paths that were read by name. */
  readonly file: (root: Oid, path: string) => Oid | null | undefined
  readonly putFile: (root: Oid, path: string, oid: Oid | null) => void
  /** All cached directories of a root. */
  readonly directories: (root: Oid) => ReadonlyMap<string, Oid | null>
}

type Held =
  | { readonly _tag: "Blob"; readonly content: Uint8Array }
  | { readonly _tag: "Tree"; readonly entries: ReadonlyArray<TreeEntry> }

/** The approximate size of the entries of a tree in memory, in bytes. */
export const bytesOf = (entries: ReadonlyArray<TreeEntry>): number =>
  entries.reduce((sum, entry) => sum + 120 + entry.path.length * 2, 100)

const costOf = (held: Held) => (held._tag === "Blob" ? held.content.length + 100 : bytesOf(held.entries))

/** The number of cached directories of one root; all roots together have 16 times as many. */
const mostPlaces = 4096

/** Evicts the least recently used entry first. Objects larger than half the bound are not cached. */
export const makeObjectCache = (maxBytes: number): ObjectCache => {
  const objects = new LruCache<Held>(maxBytes, costOf, { largest: maxBytes / 2 })
  const roots = new LruCache<Map<string, Oid | null>>(16 * mostPlaces, ({ size }) => size, { entries: 256 })
  const files = new LruCache<Oid | null>(4096)

  const put = (oid: Oid, held: Held) => {
    if (objects.peek(oid) === undefined) objects.set(oid, held)
  }

  return {
    blob: (oid) => {
      const held = objects.get(oid)
      return held?._tag === "Blob" ? held.content.slice() : undefined
    },
    putBlob: (oid, content) => put(oid, { _tag: "Blob", content: content.slice() }),
    tree: (oid) => {
      const held = objects.get(oid)
      return held?._tag === "Tree" ? held.entries : undefined
    },
    putTree: (oid, entries) => put(oid, { _tag: "Tree", entries }),
    directory: (oid, path) => (path === "" ? oid : roots.peek(oid)?.get(path)),
    putDirectories: (oid, places) => {
      const paths = roots.peek(oid) ?? new Map<string, Oid | null>()
      for (const [path, directory] of places) {
        if (paths.size >= mostPlaces) break
        if (path !== "") paths.set(path, directory)
      }
      roots.set(oid, paths)
    },
    file: (oid, path) => files.peek(`${oid}:${path}`),
    putFile: (oid, path, file) => void files.set(`${oid}:${path}`, file),
    directories: (oid) => roots.peek(oid) ?? new Map()
  }
}
