import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as TimeSlice from "../../../domain/TimeSlice.js"
import { BrokenTree } from "./BrokenTree.js"
import { type Header, headerName, parseHeader, rowsName } from "./Header.js"
import { type Entry, type KeyOf, parseLeaf, weightOfFile } from "./Leaf.js"
import { Node } from "./Node.js"
import type { Reader, ReaderEntry } from "./Reader.js"
import { least, separatorAt } from "./Separator.js"

/** Directories that are read at once. */
export const concurrency = 16

const broken = (path: string, message: string) => new BrokenTree({ path, message: `${path} ${message}` })

const compareStarts = (a: Node, b: Node): number => {
  const [left, right] = [a.separator.start, b.separator.start]
  if (left !== right) return left < right ? -1 : 1
  if (a.key !== undefined && b.key !== undefined) return a.key < b.key ? -1 : 1
  return Number(a.separator.isCut) - Number(b.separator.isCut)
}

/** A tree as one commit has it. Each directory and file is read once, when it is needed. */
export class StoredTree<E> {
  readonly root: Node

  private constructor(
    private readonly reader: Reader<E>,
    private readonly keyOf: KeyOf,
    readonly header: Header
  ) {
    this.root = Node.stored(least, false, { path: rowsName, oid: header.rows, size: undefined })
  }

  /** The tree that the reader's commit has. Fails with `BrokenTree` where the rows are not those of the header. */
  static open<E>(reader: Reader<E>, keyOf: KeyOf): Effect.Effect<StoredTree<E>, E | BrokenTree> {
    return Effect.gen(function* () {
      const [[content], rows] = yield* Effect.all([reader.files([headerName]), reader.directory(rowsName)], {
        concurrency: 2
      })
      if (content === undefined) return yield* broken(headerName, "is missing")
      const header = yield* Effect.mapError(parseHeader(content), (problem) => broken(headerName, problem))
      if (rows === undefined) return yield* broken(rowsName, "is missing")
      if (rows.oid !== header.rows) return yield* broken(rowsName, "was changed by another program")
      const tree = new StoredTree(reader, keyOf, header)
      yield* tree.#list(tree.root, rows.entries)
      return tree
    })
  }

  /** The children of a directory in the order of their keys. */
  children(node: Node): Effect.Effect<ReadonlyArray<Node>, E | BrokenTree> {
    if (node.children !== undefined) return Effect.succeed(node.children)
    return Effect.flatMap(this.reader.directory(node.place!.path), (found) =>
      this.#list(node, found?.entries ?? [])
    )
  }

  #list(node: Node, entries: ReadonlyArray<ReaderEntry>): Effect.Effect<ReadonlyArray<Node>, E | BrokenTree> {
    const { path } = node.place!
    return Effect.gen(this, function* () {
      const children: Array<Node> = []
      for (const entry of entries) {
        const child = this.#child(node, path, entry)
        if (child === undefined) {
          return yield* broken(path, `contains ${entry.name}, which is not part of the tree`)
        }
        children.push(child)
      }
      if (children.length === 0) return yield* broken(path, "is empty or missing")
      if (children.some(({ isLeaf }) => isLeaf !== children[0]!.isLeaf)) {
        return yield* broken(path, "contains both files and directories")
      }
      children.sort(compareStarts)
      if (yield* this.#tellApart(children)) children.sort(compareStarts)
      if (children[0]!.separator !== node.separator) return yield* broken(path, "has lost its beginning")
      node.children = children
      return children
    })
  }

  #child(parent: Node, path: string, { kind, name, oid, size }: ReaderEntry): Node | undefined {
    const isLeaf = kind === "blob"
    const separator = separatorAt(name, isLeaf, parent.separator)
    if (separator === undefined) return undefined
    return Node.stored(separator, isLeaf, { path: `${path}/${name}`, oid, size }, parent)
  }

  /** Reads the keys of siblings whose names are cut to the same text. Returns whether there are any. */
  #tellApart(children: ReadonlyArray<Node>): Effect.Effect<boolean, E | BrokenTree> {
    const alike = children.filter(
      ({ separator }, at) =>
        separator.isCut &&
        [children[at - 1], children[at + 1]].some(
          (other) => other?.separator.isCut === true && other.separator.start === separator.start
        )
    )
    return Effect.as(this.#readKeys(alike), alike.length > 0)
  }

  #readKeys(nodes: ReadonlyArray<Node>): Effect.Effect<void, E | BrokenTree> {
    const unknown = nodes.filter(({ key }) => key === undefined)
    if (unknown.length === 0) return Effect.void
    return Effect.gen(this, function* () {
      const leaves = yield* Effect.forEach(unknown, (node) => this.#firstLeaf(node), { concurrency })
      const rows = yield* this.read(leaves)
      for (const [at, node] of unknown.entries()) node.key = rows[at]![0]!.key
    })
  }

  #firstLeaf(node: Node): Effect.Effect<Node, E | BrokenTree> {
    return node.isLeaf
      ? Effect.succeed(node)
      : Effect.flatMap(this.children(node), ([first]) => this.#firstLeaf(first!))
  }

  /** The rows of leaves, which are read together and not kept. */
  read(leaves: ReadonlyArray<Node>): Effect.Effect<ReadonlyArray<ReadonlyArray<Entry>>, E | BrokenTree> {
    const missing = leaves.filter(({ entries }) => entries === undefined)
    if (missing.length === 0) return Effect.succeed(leaves.map(({ entries }) => entries!))
    return Effect.gen(this, function* () {
      const contents = yield* this.reader.files(missing.map(({ place }) => place!.path))
      const found = yield* TimeSlice.forEach(missing.entries(), ([at, leaf]) =>
        Effect.map(this.#parse(leaf, contents[at]), (entries) => [leaf, entries] as const)
      )
      const rows = new Map(found)
      return leaves.map((leaf) => leaf.entries ?? rows.get(leaf)!)
    })
  }

  #parse(leaf: Node, content: Uint8Array | undefined): Effect.Effect<ReadonlyArray<Entry>, BrokenTree> {
    const { path } = leaf.place!
    if (content === undefined) return broken(path, "is missing")
    const parsed = parseLeaf(content, this.keyOf)
    if (Either.isLeft(parsed)) return broken(path, parsed.left)
    const [first] = parsed.right
    return leaf.separator !== least && first?.separator.name !== leaf.separator.name
      ? broken(path, "does not begin with the row that its name tells")
      : Effect.succeed(parsed.right)
  }

  /** Reads leaves together, and keeps their rows. */
  load(leaves: ReadonlyArray<Node>): Effect.Effect<void, E | BrokenTree> {
    return Effect.map(this.read(leaves), (rows) => {
      for (const [at, leaf] of leaves.entries()) leaf.entries = rows[at]
    })
  }

  entries(leaf: Node): Effect.Effect<ReadonlyArray<Entry>, E | BrokenTree> {
    return Effect.map(this.load([leaf]), () => leaf.entries!)
  }

  /** What a node's rows or children weigh together. */
  weight(node: Node): Effect.Effect<number, E | BrokenTree> {
    if (!node.isLeaf) return Effect.map(this.children(node), ({ length }) => length)
    const size = node.place?.size
    return node.entries === undefined && size !== undefined
      ? Effect.succeed(weightOfFile(size))
      : Effect.map(this.entries(node), (entries) => entries.reduce((sum, { weight }) => sum + weight, 0))
  }

  /** The place of the last of some siblings that begins at a key or before it. */
  locate(children: ReadonlyArray<Node>, key: string): Effect.Effect<number, E | BrokenTree> {
    const unsure = children.filter(
      (child, at) => at > 0 && child.key === undefined && child.separator.compareKey(key) === undefined
    )
    return Effect.map(this.#readKeys(unsure), () => {
      let [low, high] = [0, children.length - 1]
      while (low < high) {
        const middle = (low + high + 1) >> 1
        const child = children[middle]!
        const begins = child.key === undefined ? child.separator.compareKey(key)! >= 0 : child.key <= key
        if (begins) low = middle
        else high = middle - 1
      }
      return low
    })
  }

  /** The leaves in which sorted keys lie or belong, each with its keys, in order. */
  leavesOf<K extends { readonly key: string }>(
    keys: ReadonlyArray<K>,
    node: Node = this.root
  ): Effect.Effect<ReadonlyArray<readonly [Node, ReadonlyArray<K>]>, E | BrokenTree> {
    if (keys.length === 0) return Effect.succeed([])
    return Effect.gen(this, function* () {
      const children = yield* this.children(node)
      const shares = new Map<Node, Array<K>>()
      for (const one of keys) {
        const child = children[yield* this.locate(children, one.key)]!
        const share = shares.get(child)
        if (share === undefined) shares.set(child, [one])
        else share.push(one)
      }
      if (children[0]!.isLeaf) return [...shares]
      const below = yield* Effect.forEach(shares, ([child, share]) => this.leavesOf(share, child), {
        concurrency
      })
      return below.flat()
    })
  }

  /** The node of the same level before or after another one. */
  beside(node: Node, step: -1 | 1): Effect.Effect<Node | undefined, E | BrokenTree> {
    const { parent } = node
    if (parent === undefined) return Effect.succeed(undefined)
    const siblings = parent.children!
    const sibling = siblings[siblings.indexOf(node) + step]
    if (sibling !== undefined) return Effect.succeed(sibling)
    return Effect.flatMap(this.beside(parent, step), (neighbour) =>
      neighbour === undefined
        ? Effect.succeed(undefined)
        : Effect.map(this.children(neighbour), (children) => children.at(step === 1 ? 0 : -1))
    )
  }
}
