import { ValidationError } from "../../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../../git/GitObject.js"
import { encodeMapTree, type MapTree } from "../../../../git/MapTree.js"
import { editMapTree, toPathEdits } from "../../../../git/MapTreeEdit.js"
import { toTreeEntry } from "../../../../git/TreeReading.js"
import type { Change, TreeEntry } from "../../GitRemote.js"
import { join, type Listing } from "./Listing.js"

/** The directories that contain changes, including "". */
export const touchedDirectories = (changes: ReadonlyArray<Change>): ReadonlySet<string> => {
  const found = new Set([""])
  for (const { path } of changes) {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
      found.add(path.slice(0, slash))
    }
  }
  return found
}

/** The changes below a directory, with paths relative to it. */
export const changesBelow = (changes: ReadonlyArray<Change>, directory: string): ReadonlyArray<Change> =>
  directory === ""
    ? changes
    : changes
        .filter((change) => change.path.startsWith(`${directory}/`))
        .map((change) => ({ ...change, path: change.path.slice(directory.length + 1) }))

/** Applies changes to a listing: the new tree id (undefined if the directory becomes empty) and all new trees. */
export const editListing = (
  listing: Listing | undefined,
  changes: ReadonlyArray<Change>
):
  | { readonly oid: Oid | undefined; readonly made: ReadonlyMap<Oid, ReadonlyArray<TreeEntry>> }
  | ValidationError => {
  const trees = new Map<Oid, MapTree>()
  const needed = touchedDirectories(changes)
  const oids = new Map<string, Oid>()
  if (listing !== undefined) oids.set("", listing.oid)
  for (const [path, entries] of listing?.directories ?? []) {
    for (const entry of entries) if (entry.kind === "tree") oids.set(join(path, entry.path), entry.oid)
    const oid = oids.get(path)
    if (oid === undefined || !needed.has(path)) continue
    trees.set(oid, new Map(entries.map((entry) => [entry.path, entry])))
  }
  const listings = new Map<Oid, ReadonlyArray<TreeEntry>>()
  const edits = toPathEdits(changes, (content) => GitObject.hash("blob", content))
  const root = editMapTree(trees, listing?.oid, edits, "GitRemote.commit", (tree) => {
    const oid = GitObject.hash("tree", encodeMapTree(tree))
    listings.set(
      oid,
      Array.from(tree, ([path, entry]) => toTreeEntry(path, entry.mode, entry.oid))
    )
    return oid
  })
  if (root instanceof ValidationError) return root
  return { oid: root === emptyTree ? undefined : root, made: listings }
}
