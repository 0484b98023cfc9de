import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { ValidationError } from "../../../../domain/errors/StoreError.js"
import type { Oid } from "../../../../domain/identifiers/Oid.js"
import type { Change, Head, TreeEntry } from "../../GitRemote.js"
import type { CachedTrees } from "../objects/CachedTrees.js"
import { entryNamed, type Listing } from "../objects/Listing.js"
import { changesBelow, editListing, touchedDirectories } from "../objects/ListingEdit.js"
import type { ObjectCache } from "../objects/ObjectCache.js"
import type { TreeReader } from "../objects/TreeReader.js"

/** Computes the trees of a new commit from the cached trees of its parent, and caches them. */
export type DeriveTrees = (parent: Head | undefined, changes: ReadonlyArray<Change>, made: Head) => void

export const makeDeriveTrees = (cache: ObjectCache, cachedTrees: CachedTrees): DeriveTrees => {
  /** A cached directory with its subdirectories that contain changes; undefined if one of them is not cached. */
  const along = (
    oid: Oid,
    entries: ReadonlyArray<TreeEntry>,
    changes: ReadonlyArray<Change>
  ): Listing | undefined => {
    const directories = new Map([["", entries]])
    for (const path of [...touchedDirectories(changes)].sort()) {
      if (path === "") continue
      const slash = path.lastIndexOf("/")
      const above = directories.get(slash < 0 ? "" : path.slice(0, slash))
      const entry = above && entryNamed(above, path.slice(slash + 1))
      if (entry?.kind !== "tree") continue
      const inner = cache.tree(entry.oid)
      if (inner === undefined) return undefined
      directories.set(path, inner)
    }
    return { oid, directories }
  }

  /** A cached directory after the changes, and the new trees; undefined if a needed directory is not cached. */
  const edited = (oid: Oid, changes: ReadonlyArray<Change>) => {
    const entries = cache.tree(oid)
    const listing = entries === undefined ? undefined : along(oid, entries, changes)
    const next = listing === undefined ? undefined : editListing(listing, changes)
    return next instanceof ValidationError ? undefined : next
  }

  const keep = (trees: ReadonlyMap<Oid, ReadonlyArray<TreeEntry>>) => {
    for (const [oid, entries] of trees) cache.putTree(oid, entries)
  }

  return (parent, changes, made) => {
    cachedTrees.putCommit(made)
    if (parent === undefined) return
    const root = edited(parent.tree, changes)
    if (root !== undefined) {
      if (root.oid !== made.tree) return
      keep(root.made)
    }
    const places = new Map<string, Oid | null>()
    for (const [path, oid] of cache.directories(parent.tree)) {
      const below = changesBelow(changes, path)
      if (below.length === 0) places.set(path, oid)
      else if (root !== undefined) {
        const now = cachedTrees.directoryAt(made.tree, path)
        if (now !== undefined) places.set(path, now)
      } else if (oid !== null) {
        const next = edited(oid, below)
        if (next === undefined) continue
        keep(next.made)
        places.set(path, next.oid ?? null)
      }
    }
    cache.putDirectories(made.tree, places)
  }
}

/** The tree id that a directory has after the changes. */
export const treeAfter = (
  trees: TreeReader,
  at: Option.Option<Head>,
  path: string,
  changes: ReadonlyArray<Change>
) =>
  Effect.gen(function* () {
    const below = changesBelow(changes, path)
    const deep = below.some((change) => change.path.includes("/"))
    const listing = Option.isNone(at) ? Option.none() : yield* trees.list(at.value, path, deep)
    if (below.length === 0) return Option.map(listing, (found) => found.oid)
    const edited = editListing(Option.getOrUndefined(listing), below)
    return edited instanceof ValidationError ? yield* edited : Option.fromNullable(edited.oid)
  })
