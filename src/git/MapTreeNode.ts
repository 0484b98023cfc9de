import type { Oid } from "../domain/identifiers/Oid.js"
import * as GitObject from "./GitObject.js"
import { type MapEntry, type MapTree, namedEntries } from "./MapTree.js"
import type { TreeEntry } from "./Tree.js"
import type { TreeNode } from "./TreeReading.js"

/** Accesses the entries of a `MapTree` by position. */
export class MapTreeNode implements TreeNode<MapTreeNode> {
  private list: ReadonlyArray<GitObject.NamedEntry> | undefined

  constructor(private readonly tree: MapTree) {}

  private get entries(): ReadonlyArray<GitObject.NamedEntry> {
    this.list ??= namedEntries(this.tree)
    return this.list
  }

  get length(): number {
    return this.tree.size
  }

  entryNamed(name: string): MapEntry | undefined {
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
