import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Steps from "../../../domain/concurrency/Steps.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import * as GitObject from "../../../git/GitObject.js"
import type { TreeFile } from "./FileEdits.js"
import { headerName, printHeader, rowsName } from "./Header.js"
import { type Entry, printLeaf } from "./Leaf.js"
import { Node, namesOf } from "./Node.js"
import { type Group, Partition } from "./Partition.js"
import { least } from "./Separator.js"
import { formatLimits, type TreeLimits } from "./TreeLimits.js"

/** The files of a rebuilt tree. */
export interface BuiltTree {
  readonly count: number
  readonly files: ReadonlyArray<TreeFile>
}

const filesOf = (directory: Node, path: string): ReadonlyArray<TreeFile> => {
  const children = directory.children!
  return namesOf(children).flatMap((name, at) => {
    const child = children[at]!
    const below = `${path}/${name}`
    return child.isLeaf ? [{ path: below, oid: child.oid }] : filesOf(child, below)
  })
}

/** The directories of the next level, with their ids. */
function* directoriesOf(children: ReadonlyArray<Node>, capacity: number): Steps.Steps<Array<Node>> {
  const groups = new Partition<Node>(capacity, least)
  const found: Array<Node> = []
  for (const child of children) {
    // Compute the hash here, between yields: the hashes of the parents need it.
    void child.oid
    groups.push(child)
    yield
  }
  for (const { items, separator } of groups.end()) found.push(Node.directory(separator, items))
  return found
}

/**
 * Builds a tree from rows, which are sorted by key and unique. The content of each file is passed to `write` with the
 * id of its blob and is not kept. The paths of the leaves are known only at the end. `tree` is the tree of the
 * collection that the rows describe; `index` is the definition of the index, if the header records it.
 */
export const buildTree = <E, E2>(
  rows: Stream.Stream<Entry, E>,
  tree: Oid,
  write: (content: Uint8Array, oid: Oid) => Effect.Effect<unknown, E2>,
  limits: TreeLimits = formatLimits,
  index?: string
): Effect.Effect<BuiltTree, E | E2> =>
  Effect.gen(function* () {
    const groups = new Partition<Entry>(limits.leaf, least)
    const leaves: Array<Node> = []
    const slice = TimeSlice.make()
    let count = 0
    const put = (content: Uint8Array) => {
      const oid = GitObject.hash("blob", content)
      return Effect.as(write(content, oid), oid)
    }
    const putLeaf = ({ items, separator }: Group<Entry>) =>
      Effect.map(put(printLeaf(items)), (oid) => void leaves.push(Node.written(separator, oid)))
    const putRows = (chunk: Iterable<Entry>) =>
      Effect.gen(function* () {
        for (const row of chunk) {
          if (slice.isSpent()) yield* slice.pause
          groups.push(row)
          count++
          for (const group of groups.take()) yield* putLeaf(group)
        }
      })
    yield* Stream.runForEachChunk(rows, putRows)
    yield* Effect.forEach(groups.end(), putLeaf, { discard: true })
    let nodes: ReadonlyArray<Node> = leaves
    do {
      const children = nodes
      nodes = yield* Steps.run(() => directoriesOf(children, limits.directory))
    } while (nodes.length > 1)
    const [root] = nodes
    const header = yield* put(printHeader({ tree, rows: root!.oid, count, index }))
    return { count, files: [{ path: headerName, oid: header }, ...filesOf(root!, rowsName)] }
  })
