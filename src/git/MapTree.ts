import type { Oid } from "../domain/identifiers/Oid.js"
import * as GitObject from "./GitObject.js"
import type { TreeEntry } from "./Tree.js"

export interface MapEntry {
  readonly mode: TreeEntry["mode"]
  readonly oid: Oid
}

/** The entries of a tree by name, in Git's order. */
export type MapTree = ReadonlyMap<string, MapEntry>

export const namedEntries = (tree: MapTree): Array<GitObject.NamedEntry> =>
  Array.from(tree, ([name, { mode, oid }]) => ({ name, mode, oid }))

export const encodeMapTree = (tree: MapTree): Uint8Array => GitObject.encodeTree(namedEntries(tree))
