import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { TreeEntry } from "../../GitRemote.js"

/** Objects and places that can never change, within a bound on their size. */
export interface ObjectCache {
  readonly blob: (oid: Oid) => Uint8Array | undefined
  readonly putBlob: (oid: Oid, content: Uint8Array) => void
  /** Direct entries of a tree. */
  readonly tree: (oid: Oid) => ReadonlyArray<TreeEntry> | undefined
  readonly putTree: (oid: Oid, entries: ReadonlyArray<TreeEntry>) => void
  /** Which tree lies at `path` of a root (a tree or a commit); null: none. */
  readonly directory: (root: Oid, path: string) => Oid | null | undefined
  readonly putDirectories: (root: Oid, places: ReadonlyMap<string, Oid | null>) => void
  /** Which blob lies at `path` of a root; null: none. Only of paths that were asked for by name. */
  readonly file: (root: Oid, path: string) => Oid | null | undefined
  readonly putFile: (root: Oid, path: string, oid: Oid | null) => void
  /** Every directory known of a root. */
  readonly directories: (root: Oid) => ReadonlyMap<string, Oid | null>
}

type Held =
  | { readonly _tag: "Blob"; readonly content: Uint8Array }
  | { readonly _tag: "Tree"; readonly entries: ReadonlyArray<TreeEntry> }

/** About how many bytes the entries of a tree take. */
export const bytesOf = (entries: ReadonlyArray<TreeEntry>): number =>
  entries.reduce((sum, entry) => sum + 120 + entry.path.length * 2, 100)

const costOf = (held: Held) => (held._tag === "Blob" ? held.content.length + 100 : bytesOf(held.entries))

/** Directories that are known of one root, and a sixteenth of those of all. */
const mostPlaces = 4096

/** Least recently used goes first; what is larger than half the bound is not kept at all. */
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
      const known = roots.peek(oid) ?? new Map<string, Oid | null>()
      for (const [path, directory] of places) {
        if (known.size >= mostPlaces) break
        if (path !== "") known.set(path, directory)
      }
      roots.set(oid, known)
    },
    file: (oid, path) => files.peek(`${oid}:${path}`),
    putFile: (oid, path, file) => void files.set(`${oid}:${path}`, file),
    directories: (oid) => roots.peek(oid) ?? new Map()
  }
}
