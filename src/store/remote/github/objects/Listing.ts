import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import type { Tree, TreeEntry } from "../../GitRemote.js"

/** A directory with subdirectories. Their paths are relative to it; "" is the directory itself. */
export interface Listing {
  readonly oid: Oid
  /** The direct entries of each directory in Git's order. The `path` of an entry is its name. */
  readonly directories: ReadonlyMap<string, ReadonlyArray<TreeEntry>>
}

export const join = (directory: string, name: string) => (directory === "" ? name : `${directory}/${name}`)

/** Sorts the direct entries of a tree in Git's order. */
export const inOrder = (entries: ReadonlyArray<TreeEntry>): ReadonlyArray<TreeEntry> =>
  [...entries].sort((a, b) =>
    GitObject.compareEntries({ name: a.path, mode: a.mode }, { name: b.path, mode: b.mode })
  )

/** Finds an entry of a tree by binary search. In Git's order a directory sorts as if its name ended with a slash. */
export const entryNamed = (entries: ReadonlyArray<TreeEntry>, name: string): TreeEntry | undefined => {
  for (const mode of ["100644", "040000"] as const) {
    let low = 0
    let high = entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      const entry = entries[middle]!
      if (GitObject.compareEntries({ name: entry.path, mode: entry.mode }, { name, mode }) < 0)
        low = middle + 1
      else high = middle
    }
    if (entries[low]?.path === name) return entries[low]
  }
  return undefined
}

/** The tree id of these entries. */
export const oidOf = (entries: ReadonlyArray<TreeEntry>): Oid =>
  GitObject.hash(
    "tree",
    GitObject.encodeTree(entries.map(({ mode, oid, path }) => ({ name: path, mode, oid })))
  )

/** A listing of direct entries. */
export const shallowListing = (entries: ReadonlyArray<TreeEntry>): Listing => {
  const ordered = inOrder(entries)
  return { oid: oidOf(ordered), directories: new Map([["", ordered]]) }
}

/** A listing with all subdirectories, from entries with relative paths that include trees. */
export const recursiveListing = (entries: ReadonlyArray<TreeEntry>): Listing => {
  const directories = new Map<string, Array<TreeEntry>>([["", []]])
  for (const entry of entries) if (entry.kind === "tree") directories.set(entry.path, [])
  for (const entry of entries) {
    const slash = entry.path.lastIndexOf("/")
    directories.get(slash < 0 ? "" : entry.path.slice(0, slash))?.push({
      ...entry,
      path: entry.path.slice(slash + 1)
    })
  }
  const ordered = new Map(Array.from(directories, ([path, list]) => [path, inOrder(list)] as const))
  return { oid: oidOf(ordered.get("") ?? []), directories: ordered }
}

/** Adds the listing of a subdirectory to a listing. */
export const graft = (listing: Listing, at: string, below: Listing): Listing => {
  const directories = new Map(listing.directories)
  for (const [path, entries] of below.directories) directories.set(path === "" ? at : join(at, path), entries)
  return { oid: listing.oid, directories }
}

/** The tree that the port returns: direct entries, or all files with their relative paths. */
export const toTree = (listing: Listing, recursive: boolean): Tree => {
  if (!recursive) return { oid: listing.oid, entries: listing.directories.get("") ?? [] }
  const entries: Array<TreeEntry> = []
  for (const [directory, list] of listing.directories) {
    for (const entry of list) {
      if (entry.kind !== "tree") entries.push({ ...entry, path: join(directory, entry.path) })
    }
  }
  return { oid: listing.oid, entries: entries.sort((a, b) => GitObject.compareNames(a.path, b.path)) }
}
