import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../git/GitObject.js"
import { type Entry, printLeaf } from "./Leaf.js"
import type { Item } from "./Partition.js"
import { nameOf, type Separator } from "./Separator.js"

/** The stored object that contains a node. */
export interface NodeLocation {
  readonly path: string
  readonly oid: Oid
  readonly size: number | undefined
}

/** A leaf or a directory of a tree. A stored node is read on demand; a new one has no location. */
export class Node implements Item {
  /** A node counts as one child of its directory. */
  readonly weight = 1
  parent: Node | undefined
  entries: ReadonlyArray<Entry> | undefined
  children: ReadonlyArray<Node> | undefined
  /** The key at which the node begins, if its separator does not determine it. */
  key: string | undefined
  #content: Uint8Array | undefined
  #oid: Oid | undefined

  private constructor(
    readonly separator: Separator,
    readonly isLeaf: boolean,
    readonly location: NodeLocation | undefined
  ) {}

  static stored(separator: Separator, isLeaf: boolean, place: NodeLocation, parent?: Node): Node {
    const node = new Node(separator, isLeaf, place)
    node.parent = parent
    return node
  }

  static leaf(separator: Separator, entries: ReadonlyArray<Entry>): Node {
    const node = new Node(separator, true, undefined)
    node.entries = entries
    return node
  }

  static directory(separator: Separator, children: ReadonlyArray<Node>): Node {
    const node = new Node(separator, false, undefined)
    node.children = children
    return node
  }

  /** A new leaf whose content is not kept. */
  static written(separator: Separator, oid: Oid): Node {
    const node = new Node(separator, true, undefined)
    node.#oid = oid
    return node
  }

  /** The bytes of a new leaf. */
  get content(): Uint8Array {
    this.#content ??= printLeaf(this.entries!)
    return this.#content
  }

  /** The id of the node's Git object, which may not be written yet. */
  get oid(): Oid {
    if (this.location !== undefined) return this.location.oid
    this.#oid ??= this.isLeaf ? GitObject.hash("blob", this.content) : treeOid(this.children!)
    return this.#oid
  }
}

/** The file names of a directory's children. */
export const namesOf = (children: ReadonlyArray<Node>): ReadonlyArray<string> =>
  children.map(({ isLeaf, separator }, at) => nameOf(separator, at === 0, isLeaf))

const treeOid = (children: ReadonlyArray<Node>): Oid => {
  const names = namesOf(children)
  const entries = children.map(({ isLeaf, oid }, at) => ({
    name: names[at]!,
    mode: isLeaf ? ("100644" as const) : ("040000" as const),
    oid
  }))
  return GitObject.hash("tree", GitObject.encodeTree(entries.sort(GitObject.compareEntries)))
}
