import * as Either from "effect/Either"
import * as GitObject from "../../../git/GitObject.js"
import { BrokenTree } from "./BrokenTree.js"
import { type Header, headerName, parseHeader, rowsName } from "./Header.js"
import { type Entry, type KeyOf, parseLeaf, weightOfFile } from "./Leaf.js"
import { Node } from "./Node.js"
import { type ReadSteps, readDirectories, readFiles } from "./ReadSteps.js"
import { least, separatorAt } from "./Separator.js"
import type { LeafCache, TreeCache } from "./TreeCache.js"
import type { TreeReader, TreeReaderEntry } from "./TreeReader.js"

const broken = (path: string, message: string) => new BrokenTree({ path, message: `${path} ${message}` })

const headerIn = (content: Uint8Array | undefined): Header => {
  if (content === undefined) throw broken(headerName, "is missing")
  return Either.getOrThrowWith(parseHeader(content), (problem) => broken(headerName, problem))
}

const entriesIn = (
  { location: place }: Node,
  content: Uint8Array | undefined,
  keyOf: KeyOf
): ReadonlyArray<Entry> => {
  const { path } = place!
  if (content === undefined) throw broken(path, "is missing")
  return Either.getOrThrowWith(parseLeaf(content, keyOf), (problem) => broken(path, problem))
}

const compareStarts = (a: Node, b: Node): number => {
  const [left, right] = [a.separator.start, b.separator.start]
  if (left !== right) return left < right ? -1 : 1
  if (a.key !== undefined && b.key !== undefined) return a.key < b.key ? -1 : 1
  return Number(a.separator.isCut) - Number(b.separator.isCut)
}

/** The directory of a tree, and how it is read. */
export interface TreeLocation<E> {
  readonly reader: TreeReader<E>
  /** The directory of the tree. */
  readonly path: string
  readonly keyOf: KeyOf
  readonly known: { readonly headers: TreeCache["headers"]; readonly leaves: LeafCache }
}

/** A tree at one commit. Directories and files are read on demand, once. */
export class StoredTree<E> {
  readonly root: Node
  readonly reader: TreeReader<E>

  private constructor(
    private readonly location: TreeLocation<E>,
    readonly header: Header
  ) {
    this.reader = location.reader
    this.root = Node.stored(least, false, { path: rowsName, oid: header.rows, size: undefined })
  }

  /**
   * Opens the tree in a directory; undefined if it is missing. Throws `BrokenTree` if the header does not match the
   * rows.
   */
  static *open<E>(location: TreeLocation<E>): ReadSteps<StoredTree<E> | undefined> {
    const { known, path } = location
    const [directory] = yield* readDirectories([path])
    if (directory === undefined) return undefined
    const at = (name: string) => (path === "" ? name : `${path}/${name}`)
    const own = directory.entries.find(({ kind, name }) => kind === "blob" && name === headerName)
    if (own === undefined) throw broken(headerName, "is missing")
    const before = known.headers.get(own.oid)
    const { directories, files } = yield {
      directories: [at(rowsName)],
      files: before === undefined ? [at(headerName)] : []
    }
    const [[rows], [content]] = [directories, files]
    const header = before ?? headerIn(content)
    known.headers.set(own.oid, header)
    if (rows === undefined) throw broken(rowsName, "is missing")
    if (rows.oid !== header.rows) throw broken(rowsName, "was changed by another program")
    const tree = new StoredTree(location, header)
    yield* tree.#list(tree.root, rows.entries)
    return tree
  }

  /** The path of a node in the repository. */
  #at(node: Node): string {
    const { path } = this.location
    return path === "" ? node.location!.path : `${path}/${node.location!.path}`
  }

  /** The children of a directory in the order of their keys. */
  *children(node: Node): ReadSteps<ReadonlyArray<Node>> {
    yield* this.loadDirectories([node])
    return node.children!
  }

  /** Reads several directories together. */
  *loadDirectories(nodes: ReadonlyArray<Node>): ReadSteps<void> {
    const missing = nodes.filter(({ children }) => children === undefined)
    const found = yield* readDirectories(missing.map((node) => this.#at(node)))
    for (const [at, node] of missing.entries()) yield* this.#list(node, found[at]?.entries ?? [])
  }

  *#list(node: Node, entries: ReadonlyArray<TreeReaderEntry>): ReadSteps<void> {
    const { path } = node.location!
    const children: Array<Node> = []
    for (const entry of entries) {
      const child = this.#child(node, path, entry)
      if (child === undefined) throw broken(path, `contains ${entry.name}, which is not part of the tree`)
      children.push(child)
    }
    if (children.length === 0) throw broken(path, "is empty or missing")
    if (children.some(({ isLeaf }) => isLeaf !== children[0]!.isLeaf)) {
      throw broken(path, "contains both files and directories")
    }
    children.sort(compareStarts)
    if (yield* this.#tellApart(children)) children.sort(compareStarts)
    if (children[0]!.separator !== node.separator) throw broken(path, "has lost its beginning")
    node.children = children
  }

  #child(parent: Node, path: string, { kind, name, oid, size }: TreeReaderEntry): Node | undefined {
    const isLeaf = kind === "blob"
    const separator = separatorAt(name, isLeaf, parent.separator)
    if (separator === undefined) return undefined
    return Node.stored(separator, isLeaf, { path: `${path}/${name}`, oid, size }, parent)
  }

  /** Reads the keys of siblings whose names are cut to the same text. Returns whether there are any. */
  *#tellApart(children: ReadonlyArray<Node>): ReadSteps<boolean> {
    const alike = children.filter(
      ({ separator }, at) =>
        separator.isCut &&
        [children[at - 1], children[at + 1]].some(
          (other) => other?.separator.isCut === true && other.separator.start === separator.start
        )
    )
    yield* this.#readKeys(alike)
    return alike.length > 0
  }

  *#readKeys(nodes: ReadonlyArray<Node>): ReadSteps<void> {
    const unknown = nodes.filter(({ key }) => key === undefined)
    if (unknown.length === 0) return
    const rows = yield* this.read(yield* this.#firstLeaves(unknown))
    for (const [at, node] of unknown.entries()) node.key = rows[at]![0]!.key
  }

  *#firstLeaves(nodes: ReadonlyArray<Node>): ReadSteps<ReadonlyArray<Node>> {
    let found = nodes
    for (;;) {
      const directories = found.filter(({ isLeaf }) => !isLeaf)
      if (directories.length === 0) return found
      yield* this.loadDirectories(directories)
      found = found.map((node) => (node.isLeaf ? node : node.children![0]!))
    }
  }

  /** Reads several leaves together, without keeping their rows. */
  *read(leaves: ReadonlyArray<Node>): ReadSteps<ReadonlyArray<ReadonlyArray<Entry>>> {
    const { keyOf, known } = this.location
    const rows = leaves.map((leaf) => leaf.entries ?? known.leaves.get(leaf.oid))
    const missing = leaves.filter((_, at) => rows[at] === undefined)
    const contents = yield* readFiles(missing.map((leaf) => this.#at(leaf)))
    let next = 0
    const read: Array<ReadonlyArray<Entry>> = []
    for (const [at, leaf] of leaves.entries()) {
      let entries = rows[at]
      if (entries === undefined) {
        if (next > 0) yield
        entries = entriesIn(leaf, contents[next++], keyOf)
        known.leaves.set(leaf.oid, entries)
      }
      const [first] = entries
      if (leaf.separator !== least && first?.separator.name !== leaf.separator.name) {
        throw broken(leaf.location!.path, "does not begin with the row that its name tells")
      }
      read.push(entries)
    }
    return read
  }

  /** Reads several leaves together, and keeps their rows. */
  *load(leaves: ReadonlyArray<Node>): ReadSteps<void> {
    const rows = yield* this.read(leaves)
    for (const [at, leaf] of leaves.entries()) leaf.entries = rows[at]
  }

  /** Caches a new header by its id, so that the entry is correct even if the commit fails. */
  cacheHeader(header: Header, content: Uint8Array): void {
    this.location.known.headers.set(GitObject.hash("blob", content), header)
  }

  /** Caches a new leaf in the same way. */
  cacheLeaf(leaf: Node): void {
    this.location.known.leaves.set(leaf.oid, leaf.entries!)
  }

  *entries(leaf: Node): ReadSteps<ReadonlyArray<Entry>> {
    yield* this.load([leaf])
    return leaf.entries!
  }

  /** The total weight of a node's rows or children. */
  *weight(node: Node): ReadSteps<number> {
    if (!node.isLeaf) return (yield* this.children(node)).length
    const size = node.location?.size
    if (node.entries === undefined && size !== undefined) return weightOfFile(size)
    return (yield* this.entries(node)).reduce((sum, { weight }) => sum + weight, 0)
  }

  /** The index of the last sibling that begins at a key or before it. */
  *locate(children: ReadonlyArray<Node>, key: string): ReadSteps<number> {
    const unsure = children.filter(
      ({ key: own, separator }, at) =>
        at > 0 && own === undefined && separator.isCut && separator.compareKey(key) === undefined
    )
    yield* this.#readKeys(unsure)
    let [low, high] = [0, children.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      const child = children[middle]!
      const begins = child.key === undefined ? child.separator.compareKey(key)! >= 0 : child.key <= key
      if (begins) low = middle
      else high = middle - 1
    }
    return low
  }

  /**
   * The leaves that contain sorted keys, or would contain them, in order and each with its keys. The directories of a
   * level are read together.
   */
  *leavesOf<K extends { readonly key: string }>(
    keys: ReadonlyArray<K>
  ): ReadSteps<ReadonlyArray<readonly [Node, ReadonlyArray<K>]>> {
    if (keys.length === 0) return []
    let level: ReadonlyArray<readonly [Node, ReadonlyArray<K>]> = [[this.root, keys]]
    while (!level[0]![0].isLeaf) {
      yield* this.loadDirectories(level.map(([directory]) => directory))
      const shares = new Map<Node, Array<K>>()
      for (const [directory, share] of level) {
        yield
        const children = directory.children!
        for (const one of share) {
          const child = children[yield* this.locate(children, one.key)]!
          const own = shares.get(child)
          if (own === undefined) shares.set(child, [one])
          else own.push(one)
        }
      }
      level = [...shares]
    }
    return level
  }

  /** The previous or next node of the same level. */
  *sibling(node: Node, step: -1 | 1): ReadSteps<Node | undefined> {
    const { parent } = node
    if (parent === undefined) return undefined
    const siblings = parent.children!
    const sibling = siblings[siblings.indexOf(node) + step]
    if (sibling !== undefined) return sibling
    const neighbour = yield* this.sibling(parent, step)
    return neighbour && (yield* this.children(neighbour)).at(step === 1 ? 0 : -1)
  }
}
