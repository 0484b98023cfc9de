import type { Steps } from "../../../domain/concurrency/Steps.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import * as GitObject from "../../GitObject.js"
import {
  type DirectoryStore,
  type EditOptions,
  type EntryEdit,
  type PathEdit,
  unsafeEditTree
} from "../../TreeEdit.js"
import type { Delta } from "./PackBuilder.js"
import { RawTree } from "./RawTree.js"

/** A new tree, and its difference from the tree that it replaces. */
export interface NewTree {
  readonly oid: Oid
  readonly tree: RawTree
  readonly delta: Delta | undefined
}

export interface Rewritten {
  /** The new root tree; the empty tree if nothing is left. */
  readonly root: Oid
  /** The new trees. Subtrees come before their parents. */
  readonly trees: ReadonlyArray<NewTree>
}

export interface TreeSource {
  tree(oid: Oid): RawTree
  /** Caches the result of edits, so that computing a tree's id before its commit does not take twice the time. */
  readonly memo: {
    get(key: string): NewTree | undefined
    set(key: string, value: NewTree, weight: number): void
  }
}

const memoKey = (base: Oid | undefined, edits: ReadonlyArray<EntryEdit>): string | undefined => {
  if (edits.length > 20_000) return undefined
  let key: string = base ?? "none"
  for (const edit of edits) key += `\0${edit.name}\0${edit.mode}${edit.oid ?? "-"}`
  return key
}

/** Applies edits to the tree `base` (undefined: the empty tree), in steps. Only directories on the edited paths are read. */
export function* rewriteTree(
  source: TreeSource,
  base: Oid | undefined,
  edits: Iterable<PathEdit>,
  options: EditOptions
): Steps<Rewritten> {
  const trees: Array<NewTree> = []
  const directories: DirectoryStore<RawTree> = {
    empty: RawTree.empty,
    load: (oid) => source.tree(oid),
    find: (tree, name) => tree.entryNamed(name),
    edit: (oid, before, changes) => {
      const key = memoKey(oid, changes)
      const memoized = key === undefined ? undefined : source.memo.get(key)
      if (memoized !== undefined) {
        if (memoized.tree.length === 0) return undefined
        if (memoized.oid !== oid) trees.push(memoized)
        return memoized.oid
      }
      const { tree, splices } = before.edit(changes)
      const delta = oid === undefined ? undefined : { base: oid, baseSize: before.bytes.length, splices }
      const written: NewTree = { oid: GitObject.hash("tree", tree.bytes), tree, delta }
      if (key !== undefined) source.memo.set(key, written, tree.weight + key.length)
      if (tree.length === 0) return undefined
      if (written.oid !== oid) trees.push(written)
      return written.oid
    }
  }
  const root = yield* unsafeEditTree(directories, base, edits, options)
  if (root === emptyTree) {
    trees.push({ oid: emptyTree, tree: RawTree.empty, delta: undefined })
  }
  return { root, trees }
}
