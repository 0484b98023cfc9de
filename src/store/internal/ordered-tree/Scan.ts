import * as Chunk from "effect/Chunk"
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

const rowsOf = ({ from, reverse, until }: ScanRange, entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const within = entries.filter(
    ({ key }) => (from === undefined || key >= from) && (until === undefined || key < until)
  )
  return reverse === true ? within.reverse() : within
}

interface ScanState {
  /** The nodes that are still to be read, the next one last. */
  readonly pending: Array<Node>
  /** The number of leaves that are read together next. */
  leaves: number
  /** The key of the last row. */
  last: string | undefined
}

/** The rows of the next leaves, which are siblings; undefined at the end. */
function* nextRows<E>(
  tree: StoredTree<E>,
  range: ScanRange,
  state: ScanState
): ReadSteps<ReadonlyArray<Entry> | undefined> {
  const { pending } = state
  while (pending.at(-1)?.isLeaf === false) {
    pending.push(...[...(yield* childrenWithin(tree, pending.pop()!, range))].reverse())
  }
  if (pending.length === 0) return undefined
  const together: Array<Node> = []
  while (together.length < state.leaves && pending.at(-1)?.isLeaf === true) together.push(pending.pop()!)
  state.leaves = Math.min(maxLeavesPerRead, state.leaves * 2)
  const contents = yield* tree.read(together)
  const rows: Array<Entry> = []
  for (const [at, leaf] of together.entries()) {
    for (const entry of rowsOf(range, contents[at]!)) {
      const { last } = state
      if (last !== undefined && (range.reverse === true ? entry.key >= last : entry.key <= last)) {
        const { path } = leaf.location!
        throw new BrokenTree({ path, message: `${path} has rows that belong to another leaf` })
      }
      state.last = entry.key
      rows.push(entry)
    }
  }
  return rows
}

/** The rows of a range in order. Leaves are read as the stream is consumed. */
export const scan = <E>(tree: StoredTree<E>, range: ScanRange = {}): Stream.Stream<Entry, E | BrokenTree> =>
  Stream.suspend(() => {
    const state: ScanState = { pending: [tree.root], leaves: 1, last: undefined }
    return Stream.unfoldChunkEffect(undefined, () =>
      Effect.map(
        run(tree.reader, () => nextRows(tree, range, state)),
        (rows) =>
          rows === undefined ? Option.none() : Option.some([Chunk.unsafeFromArray(rows), undefined] as const)
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
