import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { afterPrefix } from "../../../domain/indexes/SortKey.js"
import { BrokenTree } from "./BrokenTree.js"
import { type Entry, lowerBound, type Row } from "./Leaf.js"
import type { Node } from "./Node.js"
import { type ReadSteps, run } from "./ReadSteps.js"
import type { StoredTree } from "./StoredTree.js"

/** A range of rows. Bounds need not be keys of rows: a prefix precedes all keys that begin with it. */
export interface ScanRange {
  /** The smallest key, inclusive. */
  readonly from?: string | undefined
  /** The end of the range, exclusive. */
  readonly until?: string | undefined
  /** In descending order of keys. */
  readonly reverse?: boolean | undefined
}

/** The most leaves that are read together. The first read is of one leaf, and each further one of twice as many. */
const maxLeavesPerRead = 16

/** The children of a directory that overlap a range. */
function* childrenWithin<E>(
  tree: StoredTree<E>,
  directory: Node,
  { from, reverse, until }: ScanRange
): ReadSteps<ReadonlyArray<Node>> {
  const children = yield* tree.children(directory)
  const low = from === undefined ? 0 : yield* tree.locate(children, from)
  const high = until === undefined ? children.length - 1 : yield* tree.locate(children, until)
  const within = children.slice(low, high + 1)
  return reverse === true ? within.reverse() : within
}

/** The leaves of a range, in groups that are read together. */
const leaves = <E>(
  tree: StoredTree<E>,
  directory: Node,
  range: ScanRange,
  together: { size: number }
): Stream.Stream<ReadonlyArray<Node>, E | BrokenTree> =>
  Stream.unwrap(
    Effect.map(
      run(tree.reader, () => childrenWithin(tree, directory, range)),
      (within) =>
        within[0]?.isLeaf === false
          ? Stream.flatMap(Stream.fromIterable(within).pipe(Stream.rechunk(1)), (child) =>
              leaves(tree, child, range, together)
            )
          : Stream.unfold(0, (at) => {
              if (at >= within.length) return Option.none()
              const run = within.slice(at, at + together.size)
              together.size = Math.min(maxLeavesPerRead, together.size * 2)
              return Option.some([run, at + run.length] as const)
            })
    )
  )

const rowsOf = ({ from, reverse, until }: ScanRange, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const within = entries.filter(
    ({ key }) => (from === undefined || key >= from) && (until === undefined || key < until)
  )
  return reverse === true ? within.reverse() : within
}

/** The rows of a range in order. Leaves are read as the stream is consumed. */
export const scan = <E>(tree: StoredTree<E>, range: ScanRange = {}): Stream.Stream<Entry, E | BrokenTree> =>
  Stream.suspend(() => {
    let last: string | undefined
    const inOrder = (key: string) => last === undefined || (range.reverse === true ? key < last : key > last)
    return leaves(tree, tree.root, range, { size: 1 }).pipe(
      Stream.mapConcatEffect((together) =>
        Effect.gen(function* () {
          const contents = yield* run(tree.reader, () => tree.read(together))
          const rows: Array<Entry> = []
          for (const [at, leaf] of together.entries()) {
            for (const entry of rowsOf(range, contents[at]!)) {
              if (!inOrder(entry.key)) {
                const { path } = leaf.location!
                return yield* new BrokenTree({
                  path,
                  message: `${path} has rows that belong to another leaf`
                })
              }
              last = entry.key
              rows.push(entry)
            }
          }
          return rows
        })
      )
    )
  })

interface KeyRange {
  readonly from: string
  readonly until: string
}

/** The first accepted row of each range, and the ranges that continue beyond their first leaf. */
function* firstInLeaves<E>(
  tree: StoredTree<E>,
  ranges: ReadonlyArray<KeyRange>,
  fits: (row: Row) => boolean
): ReadSteps<{ readonly found: Map<string, Row>; readonly long: ReadonlyArray<KeyRange> }> {
  const ends = ranges.flatMap(({ from, until }) => [{ key: from }, { key: until }])
  const shares = yield* tree.leavesOf(ends.sort((a, b) => (a.key < b.key ? -1 : 1)))
  yield* tree.load(shares.map(([leaf]) => leaf))
  const leafOf = new Map(shares.flatMap(([leaf, share]) => share.map(({ key }) => [key, leaf] as const)))
  const found = new Map<string, Row>()
  const long: Array<KeyRange> = []
  for (const range of ranges) {
    yield
    const { from, until } = range
    const leaf = leafOf.get(from)!
    if (leaf !== leafOf.get(until)) {
      long.push(range)
      continue
    }
    const entries = leaf.entries!
    for (let at = lowerBound(entries, from); at < entries.length && entries[at]!.key < until; at++) {
      if (!fits(entries[at]!.row)) continue
      found.set(from, entries[at]!.row)
      break
    }
  }
  return { found, long }
}

/** The first accepted row of each tuple of values. Their leaves are read together and kept. */
export const firstWithin = <E>(
  tree: StoredTree<E>,
  tuples: Iterable<string>,
  fits: (row: Row) => boolean
): Effect.Effect<ReadonlyMap<string, Row>, E | BrokenTree> =>
  Effect.gen(function* () {
    const ranges = Array.from(tuples, (from) => ({ from, until: afterPrefix(from) }))
    const { found, long } = yield* run(tree.reader, () => firstInLeaves(tree, ranges, fits))
    for (const range of long) {
      const first = yield* Stream.runHead(Stream.filter(scan(tree, range), ({ row }) => fits(row)))
      if (Option.isSome(first)) found.set(range.from, first.value.row)
    }
    return found
  })

/** The row with a key; undefined if there is none. */
export function* lookup<E>(tree: StoredTree<E>, key: string): ReadSteps<Entry | undefined> {
  const [[leaf]] = (yield* tree.leavesOf([{ key }])) as readonly [readonly [Node, unknown]]
  const entries = yield* tree.entries(leaf)
  const found = entries[lowerBound(entries, key)]
  return found?.key === key ? found : undefined
}
