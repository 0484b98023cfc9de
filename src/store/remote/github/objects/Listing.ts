import type { Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import type { Tree, TreeEntry } from "../../GitRemote.js"

/** A directory with the directories below it that are known; names are relative to it, "" is itself. */
export interface Listing {
  readonly oid: Oid
  /** Direct entries of each directory, in Git's order; an entry's `path` is its name. */
  readonly directories: ReadonlyMap<string, ReadonlyArray<TreeEntry>>
}

export const join = (directory: string, name: string) => (directory === "" ? name : `${directory}/${name}`)

/** Puts the direct entries of one tree in Git's order. */
export const inOrder = (entries: ReadonlyArray<TreeEntry>): ReadonlyArray<TreeEntry> =>
  [...entries].sort((a, b) =>
    GitObject.compareEntries({ name: a.path, mode: a.mode }, { name: b.path, mode: b.mode })
  )

/** The entry of a name among those of one tree, which are in Git's order: directories as if their names ended in a slash. */
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

/** The id that a directory of these entries has: a listing proves itself. */
export const oidOf = (entries: ReadonlyArray<TreeEntry>): Oid =>
  GitObject.hash(
    "tree",
    GitObject.encodeTree(entries.map(({ mode, oid, path }) => ({ name: path, mode, oid })))
  )

/** A listing of the direct entries alone. */
export const shallowListing = (entries: ReadonlyArray<TreeEntry>): Listing => {
  const ordered = inOrder(entries)
  return { oid: oidOf(ordered), directories: new Map([["", ordered]]) }
}

/** A listing of everything below, from entries with whole relative paths, trees among them. */
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

/** Adds what lies below one of a listing's directories. */
export const graft = (listing: Listing, at: string, below: Listing): Listing => {
  const directories = new Map(listing.directories)
  for (const [path, entries] of below.directories) directories.set(path === "" ? at : join(at, path), entries)
  return { oid: listing.oid, directories }
}

/** The listing as the port gives it: direct entries, or every file with its whole path. */
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
