import type { Oid } from "../domain/Oid.js"
import { ValidationError } from "../domain/StoreError.js"
import * as TimeSlice from "../domain/TimeSlice.js"
import type { Change } from "./Commit.js"
import * as GitObject from "./GitObject.js"
import type { TreeEntry } from "./Tree.js"
import { type Directories, type PathEdit, unsafeEditTree } from "./TreeEdit.js"
import type { TreeNode } from "./TreeReading.js"

type Entry = Pick<TreeEntry, "mode" | "oid">

/** A tree as a map: its entries by name, in Git's order. */
export type MapTree = ReadonlyMap<string, Entry>

const named = (tree: MapTree): Array<GitObject.NamedEntry> =>
  Array.from(tree, ([name, { mode, oid }]) => ({ name, mode, oid }))

export const encodeMap = (tree: MapTree): Uint8Array => GitObject.encodeTree(named(tree))

const inOrder = (entries: MapTree): MapTree =>
  new Map(
    named(entries)
      .sort(GitObject.compareEntries)
      .map(({ mode, name, oid }) => [name, { mode, oid }])
  )

/** The changes of a commit as edits of its tree. */
export const editsOf = (
  changes: ReadonlyArray<Change>,
  blob: (content: Uint8Array) => Oid
): ReadonlyArray<PathEdit> =>
  changes.map((change) => ({
    path: change.path,
    mode: change._tag === "Link" ? (change.mode ?? "100644") : "100644",
    oid: change._tag === "Put" ? blob(change.content) : change._tag === "Link" ? change.oid : undefined
  }))

/** Makes `edits` in the tree `base`; `write` keeps each tree that is made, and returns its id. */
export const editTree = (
  trees: Pick<ReadonlyMap<Oid, MapTree>, "get">,
  base: Oid | undefined,
  edits: ReadonlyArray<PathEdit>,
  operation: string,
  write: (tree: MapTree) => Oid
): Oid | ValidationError => {
  const empty: MapTree = new Map()
  const directories: Directories<MapTree> = {
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
    return TimeSlice.runSync(unsafeEditTree(directories, base, edits, { operation, directories: false }))
  } catch (error) {
    if (error instanceof ValidationError) return error
    throw error
  }
}

/** A tree of this form by the positions of its entries. */
export class MapTreeNode implements TreeNode<MapTreeNode> {
  private list: ReadonlyArray<GitObject.NamedEntry> | undefined

  constructor(private readonly tree: MapTree) {}

  private get entries(): ReadonlyArray<GitObject.NamedEntry> {
    this.list ??= named(this.tree)
    return this.list
  }

  get length(): number {
    return this.tree.size
  }

  entryNamed(name: string): Entry | undefined {
    return this.tree.get(name)
  }

  name(index: number): string {
    return this.entries[index]!.name
  }

  oid(index: number): Oid {
    return this.entries[index]!.oid
  }

  mode(index: number): TreeEntry["mode"] {
    return this.entries[index]!.mode
  }

  compareTo(index: number, other: MapTreeNode, otherIndex: number): number {
    return GitObject.compareEntries(this.entries[index]!, other.entries[otherIndex]!)
  }

  sameEntry(index: number, other: MapTreeNode, otherIndex: number): boolean {
    const [one, two] = [this.entries[index]!, other.entries[otherIndex]!]
    return one.oid === two.oid && one.mode === two.mode
  }
}
