import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Oid } from "../../../domain/Oid.js"
import { headerName, printHeader } from "./Header.js"
import { type Entry, printLeaf } from "./Leaf.js"
import { formatLimits, type Limits } from "./Limits.js"
import { Node } from "./Node.js"
import { type Group, Partition, partition } from "./Partition.js"
import { least } from "./Separator.js"
import { namesOf } from "./TreeEdit.js"

/** A file of a tree: where it lies, and what became of its content. */
export interface BuiltFile<A> {
  readonly path: string
  readonly file: A
}

/** A tree that was made anew. */
export interface Built<A> {
  readonly count: number
  readonly files: ReadonlyArray<BuiltFile<A>>
}

const filesBelow = <A>(
  directory: Node,
  path: string,
  written: ReadonlyMap<Node, A>
): ReadonlyArray<BuiltFile<A>> => {
  const children = directory.children!
  return namesOf(children).flatMap((name, at) => {
    const child = children[at]!
    return child.isLeaf
      ? [{ path: path + name, file: written.get(child)! }]
      : filesBelow(child, `${path}${name}/`, written)
  })
}

/**
 * Makes a tree of rows, which come sorted by key with one row for a key. The content of each leaf goes to `write` when
 * it is complete, and is not kept: what `write` returns stands for it, such as the id of a blob. Where the leaves lie is
 * known only at the end. `tree` is the tree of the collection that the rows describe.
 */
export const build = <A, E, E2>(
  rows: Stream.Stream<Entry, E>,
  tree: Oid,
  write: (content: Uint8Array) => Effect.Effect<A, E2>,
  limits: Limits = formatLimits
): Effect.Effect<Built<A>, E | E2> =>
  Effect.gen(function* () {
    const groups = new Partition<Entry>(limits.leaf, least)
    const leaves: Array<Node> = []
    const written = new Map<Node, A>()
    let count = 0
    const put = ({ items, separator }: Group<Entry>) =>
      Effect.map(write(printLeaf(items)), (file) => {
        const leaf = Node.leaf(separator, [])
        leaves.push(leaf)
        written.set(leaf, file)
      })
    yield* Stream.runForEachChunk(rows, (chunk) =>
      Effect.suspend(() => {
        for (const row of chunk) groups.push(row)
        count += chunk.length
        return Effect.forEach(groups.take(), put, { discard: true })
      })
    )
    yield* Effect.forEach(groups.end(), put, { discard: true })
    let nodes = leaves
    do {
      nodes = partition(nodes, limits.directory, least).map(({ items, separator }) =>
        Node.directory(separator, items)
      )
    } while (nodes.length > 1)
    const header = yield* write(printHeader({ tree, count }))
    return { count, files: [{ path: headerName, file: header }, ...filesBelow(nodes[0]!, "", written)] }
  })
