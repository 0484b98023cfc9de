import * as Steps from "../domain/concurrency/Steps.js"
import { ValidationError } from "../domain/errors/StoreError.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import type { Change } from "./Commit.js"
import * as GitObject from "./GitObject.js"
import { type MapTree, namedEntries } from "./MapTree.js"
import { type DirectoryStore, type PathEdit, unsafeEditTree } from "./TreeEdit.js"

const inOrder = (entries: MapTree): MapTree =>
  new Map(
    namedEntries(entries)
      .sort(GitObject.compareEntries)
      .map(({ mode, name, oid }) => [name, { mode, oid }])
  )

/** The changes of a commit as edits of its tree. `blob` returns the id of a blob. */
export const toPathEdits = (
  changes: ReadonlyArray<Change>,
  blob: (content: Uint8Array) => Oid
): ReadonlyArray<PathEdit> =>
  changes.map((change) => ({
    path: change.path,
    mode: change._tag === "Link" ? (change.mode ?? "100644") : "100644",
    keepsSubmodule: change._tag === "Put" && change.replacesSubmodule !== true,
    oid: change._tag === "Put" ? blob(change.content) : change._tag === "Link" ? change.oid : undefined
  }))

/** Applies edits to the tree `base`. `write` stores a new tree and returns its id. */
export const editMapTree = (
  trees: Pick<ReadonlyMap<Oid, MapTree>, "get">,
  base: Oid | undefined,
  edits: ReadonlyArray<PathEdit>,
  operation: string,
  write: (tree: MapTree) => Oid
): Oid | ValidationError => {
  const empty: MapTree = new Map()
  const directories: DirectoryStore<MapTree> = {
    empty,
    load: (oid) => trees.get(oid) ?? empty,
    find: (tree, name) => tree.get(name),
    edit: (_, before, changes) => {
      const entries = new Map(before)
      let sameKinds = true
      for (const { mode, name, oid } of changes) {
        if (oid === undefined) entries.delete(name)
        else {
          sameKinds &&= before.get(name)?.mode === mode
          entries.set(name, { mode, oid })
        }
      }
      return entries.size === 0 ? undefined : write(sameKinds ? entries : inOrder(entries))
    }
  }
  try {
    return Steps.runSync(unsafeEditTree(directories, base, edits, { operation, removesDirectories: false }))
  } catch (error) {
    if (error instanceof ValidationError) return error
    throw error
  }
}
