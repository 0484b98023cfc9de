import type { Entry } from "./Leaf.js"
import type { Item } from "./Partition.js"
import type { Separator } from "./Separator.js"

/** Where an object of the repository is that has a node's content. */
export interface NodePlace {
  readonly path: string
  readonly oid: string
  readonly size: number | undefined
}

/** A leaf or a directory of a tree. A stored one is read when its content is asked for; a new one has no place. */
export class Node implements Item {
  /** One among the children of its directory. */
  readonly weight = 1
  parent: Node | undefined
  entries: ReadonlyArray<Entry> | undefined
  children: ReadonlyArray<Node> | undefined
  /** The key at which it begins, where its separator does not tell. */
  key: string | undefined

  private constructor(
    readonly separator: Separator,
    readonly isLeaf: boolean,
    readonly place: NodePlace | undefined
  ) {}

  static stored(separator: Separator, isLeaf: boolean, place: NodePlace, parent?: Node): Node {
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
}
