import type { Oid } from "../../../domain/Oid.js"
import type { TreeEntry } from "../GitRemote.js"

/** Objects and places that can never change, within a bound on their size. */
export interface ObjectCache {
  readonly blob: (oid: Oid) => Uint8Array | undefined
  readonly putBlob: (oid: Oid, content: Uint8Array) => void
  /** Direct entries of a tree. */
  readonly tree: (oid: Oid) => ReadonlyArray<TreeEntry> | undefined
  readonly putTree: (oid: Oid, entries: ReadonlyArray<TreeEntry>) => void
  /** Which tree lies at `path` of a root (a tree or a commit); null: none. */
  readonly directory: (root: Oid, path: string) => Oid | null | undefined
  readonly putDirectory: (root: Oid, path: string, oid: Oid | null) => void
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
  const objects = new Map<Oid, { readonly held: Held; readonly cost: number }>()
  const roots = new Map<Oid, Map<string, Oid | null>>()
  const files = new Map<string, Oid | null>()
  let total = 0

  const get = (oid: Oid) => {
    const found = objects.get(oid)
    if (found !== undefined) {
      objects.delete(oid)
      objects.set(oid, found)
    }
    return found?.held
  }
  const put = (oid: Oid, held: Held) => {
    const cost = costOf(held)
    const before = objects.get(oid)
    if (before !== undefined || cost > maxBytes / 2) return
    objects.set(oid, { held, cost })
    total += cost
    for (const [oldest, entry] of objects) {
      if (total <= maxBytes) break
      objects.delete(oldest)
      total -= entry.cost
    }
  }
  let places = 0
  const putPlace = (oid: Oid, path: string, directory: Oid | null) => {
    const known = roots.get(oid) ?? new Map<string, Oid | null>()
    roots.delete(oid)
    roots.set(oid, known)
    places -= known.size
    if (known.size < mostPlaces) known.set(path, directory)
    places += known.size
    for (const [oldest, { size }] of roots) {
      if (roots.size <= 256 && places <= 16 * mostPlaces) break
      roots.delete(oldest)
      places -= size
    }
  }

  return {
    blob: (oid) => {
      const held = get(oid)
      return held?._tag === "Blob" ? held.content.slice() : undefined
    },
    putBlob: (oid, content) => put(oid, { _tag: "Blob", content: content.slice() }),
    tree: (oid) => {
      const held = get(oid)
      return held?._tag === "Tree" ? held.entries : undefined
    },
    putTree: (oid, entries) => put(oid, { _tag: "Tree", entries }),
    directory: (oid, path) => (path === "" ? oid : roots.get(oid)?.get(path)),
    putDirectory: putPlace,
    file: (oid, path) => files.get(`${oid}:${path}`),
    putFile: (oid, path, file) => {
      const key = `${oid}:${path}`
      files.delete(key)
      files.set(key, file)
      for (const oldest of files.keys()) {
        if (files.size <= 4096) break
        files.delete(oldest)
      }
    },
    directories: (oid) => roots.get(oid) ?? new Map()
  }
}
