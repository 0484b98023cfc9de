import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Oid } from "../../../domain/Oid.js"
import { ValidationError } from "../../../domain/StoreError.js"
import type { Change, Head, TreeEntry } from "../GitRemote.js"
import type { KnownTrees } from "./KnownTrees.js"
import { entryNamed, type Listing } from "./Listing.js"
import { after, changesBelow, touched } from "./ListingEdit.js"
import type { ObjectCache } from "./ObjectCache.js"
import type { Trees } from "./Trees.js"

/** Works out what is known of a commit of ours from what is known of its parent. */
export type Derive = (parent: Head | undefined, changes: ReadonlyArray<Change>, made: Head) => void

export const makeDerive = (cache: ObjectCache, known: KnownTrees): Derive => {
  /** A known directory with the known ones that changes go through; undefined when one of those is not. */
  const along = (
    oid: Oid,
    entries: ReadonlyArray<TreeEntry>,
    changes: ReadonlyArray<Change>
  ): Listing | undefined => {
    const directories = new Map([["", entries]])
    for (const path of [...touched(changes)].sort()) {
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

  return (parent, changes, made) => {
    known.learnCommit(made)
    if (parent === undefined) return
    for (const [path, oid] of new Map([...cache.directories(parent.tree), ["", parent.tree]])) {
      const below = changesBelow(changes, path)
      if (below.length === 0) {
        cache.putDirectory(made.tree, path, oid)
        continue
      }
      if (oid === null) continue
      const entries = cache.tree(oid)
      if (entries === undefined) continue
      const listing = along(oid, entries, below)
      const next = listing === undefined ? undefined : after(listing, below)
      if (next === undefined || next instanceof ValidationError) continue
      if (path === "" && next.oid !== made.tree) return
      for (const [id, list] of next.made) cache.putTree(id, list)
      cache.putDirectory(made.tree, path, next.oid ?? null)
    }
  }
}

/** The id that a directory will have once changes are made. */
export const treeAfter = (
  trees: Trees,
  at: Option.Option<Head>,
  path: string,
  changes: ReadonlyArray<Change>
) =>
  Effect.gen(function* () {
    const below = changesBelow(changes, path)
    const deep = below.some((change) => change.path.includes("/"))
    const listing = Option.isNone(at) ? Option.none() : yield* trees.list(at.value, path, deep)
    if (below.length === 0) return Option.map(listing, (found) => found.oid)
    const made = after(Option.getOrUndefined(listing), below)
    return made instanceof ValidationError ? yield* Effect.fail(made) : Option.fromNullable(made.oid)
  })
