import * as Option from "effect/Option"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import { LruCache } from "../../../../domain/runtime/LruCache.js"
import type { Head, TreeEntry } from "../../GitRemote.js"
import { entryNamed, type Listing } from "./Listing.js"
import type { ObjectCache } from "./ObjectCache.js"

/** The cached trees of commits: trees by id, and which tree each directory of a commit has. */
export interface CachedTrees {
  /** The root tree of a commit, if it is cached; else the id itself, which the host accepts in its place. */
  readonly rootOf: (at: Head | Oid) => Oid
  /** The root tree of a commit that is known to exist. */
  readonly rootAt: (commit: Oid) => Option.Option<Oid>
  readonly putCommit: (head: Head) => void
  /** Caches the directory at a path of a root, with its subdirectories. */
  readonly putListing: (root: Oid, path: string, listing: Listing) => void
  readonly entries: (tree: Oid) => ReadonlyArray<TreeEntry> | undefined
  /** Caches the direct entries of a tree. */
  readonly putDirectory: (listing: Listing) => void
  readonly listing: (tree: Oid, recursive: boolean) => Listing | undefined
  /** The cached tree id of a directory; null: it does not exist; undefined: unknown. */
  readonly directoryAt: (root: Oid, path: string) => Oid | null | undefined
  /** The cached entry of a path; undefined: unknown. */
  readonly entryAt: (at: Head | Oid, path: string) => Option.Option<TreeEntry> | undefined
  /** Caches that a path that was read as a file is a directory or a submodule. */
  readonly noteNotAFile: (at: Head | Oid, path: string, kind: "tree" | "commit") => void
  /** Whether a path is known to be a directory or a submodule. */
  readonly notAFile: (at: Head | Oid, path: string) => "tree" | "commit" | undefined
}

const join = (directory: string, name: string) =>
  directory === "" ? name : name === "" ? directory : `${directory}/${name}`

export const makeCachedTrees = (cache: ObjectCache): CachedTrees => {
  const roots = new LruCache<Oid>(4096)
  const notFiles = new LruCache<"tree" | "commit">(4096)

  const rootOf: CachedTrees["rootOf"] = (at) => (typeof at === "string" ? (roots.peek(at) ?? at) : at.tree)

  const learnCommit: CachedTrees["putCommit"] = (head) => void roots.set(head.commit, head.tree)

  const directory: CachedTrees["directoryAt"] = (root, path) => {
    const noted = cache.directory(root, path)
    if (noted !== undefined) return noted
    let at = root
    for (const segment of path.split("/")) {
      const entries = cache.tree(at)
      if (entries === undefined) return undefined
      const entry = entryNamed(entries, segment)
      if (entry?.kind !== "tree") return null
      at = entry.oid
    }
    return at
  }

  const entryAt: CachedTrees["entryAt"] = (at, path) => {
    const slash = path.lastIndexOf("/")
    const parent = directory(rootOf(at), slash < 0 ? "" : path.slice(0, slash))
    if (parent === null) return Option.none()
    const entries = parent === undefined ? undefined : cache.tree(parent)
    const name = path.slice(slash + 1)
    const file = entries === undefined ? cache.file(rootOf(at), path) : undefined
    if (file === null) return Option.none()
    if (file !== undefined) return Option.some({ path: name, mode: "100644", kind: "blob", oid: file })
    return entries === undefined ? undefined : Option.fromNullable(entryNamed(entries, name))
  }

  return {
    rootOf,
    rootAt: (commit) => Option.fromNullable(roots.peek(commit)),
    putCommit: learnCommit,
    directoryAt: directory,
    entries: cache.tree,
    putDirectory: (listing) => {
      const entries = listing.directories.get("")
      if (entries !== undefined) cache.putTree(listing.oid, entries)
    },
    putListing: (root, path, listing) => {
      const places = new Map([[path, listing.oid]])
      const oids = new Map([["", listing.oid]])
      for (const [below, entries] of listing.directories) {
        for (const entry of entries) {
          if (entry.kind !== "tree") continue
          const name = join(below, entry.path)
          oids.set(name, entry.oid)
          places.set(join(path, name), entry.oid)
        }
      }
      cache.putDirectories(root, places)
      for (const [below, entries] of listing.directories) {
        const oid = oids.get(below)
        if (oid !== undefined) cache.putTree(oid, entries)
      }
    },
    listing: (tree, recursive) => {
      const directories = new Map<string, ReadonlyArray<TreeEntry>>()
      const waiting: Array<readonly [string, Oid]> = [["", tree]]
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const entries = cache.tree(next[1])
        if (entries === undefined) return undefined
        directories.set(next[0], entries)
        if (!recursive) break
        for (const entry of entries) {
          if (entry.kind === "tree") waiting.push([join(next[0], entry.path), entry.oid])
        }
      }
      return { oid: tree, directories }
    },
    entryAt,
    noteNotAFile: (at, path, kind) => void notFiles.set(`${rootOf(at)}:${path}`, kind),
    notAFile: (at, path) => {
      const noted = notFiles.peek(`${rootOf(at)}:${path}`)
      if (noted !== undefined) return noted
      const kind = Option.getOrUndefined(entryAt(at, path) ?? Option.none())?.kind
      if (kind !== undefined) return kind === "blob" ? undefined : kind
      return typeof directory(rootOf(at), path) === "string" ? "tree" : undefined
    }
  }
}
