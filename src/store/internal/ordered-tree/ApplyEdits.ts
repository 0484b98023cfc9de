import * as Steps from "../../../domain/concurrency/Steps.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import { BrokenTree } from "./BrokenTree.js"
import { headerName, printHeader, rowsName } from "./Header.js"
import { type Entry, lowerBound } from "./Leaf.js"
import { Node } from "./Node.js"
import { type Item, partition } from "./Partition.js"
import { type ReadSteps, withoutReads } from "./ReadSteps.js"
import { type Level, type Replacement, regroup, strongest, type Window } from "./Regroup.js"
import { least } from "./Separator.js"
import type { StoredTree } from "./StoredTree.js"
import { differences, type TreeEdit } from "./TreeEdit.js"
import { formatLimits, type TreeLimits } from "./TreeLimits.js"

/** Row edits by key: a row that is inserted or replaces the row with its key, or undefined to remove the row. */
export type RowEdits = ReadonlyMap<string, Entry | undefined>

interface RowEdit {
  readonly key: string
  readonly entry: Entry | undefined
}

/** The effect of row edits on the files of a tree. */
export interface AppliedEdits {
  /** The number of rows of the edited tree. */
  readonly count: number
  readonly edits: ReadonlyArray<TreeEdit>
}

const leaves = <E>(tree: StoredTree<E>, limits: TreeLimits): Level => ({
  capacity: limits.leaf,
  itemsOf: (node) => tree.entries(node),
  make: ({ items, separator }) => Node.leaf(separator, items as ReadonlyArray<Entry>)
})

const directories = <E>(tree: StoredTree<E>, limits: TreeLimits): Level => ({
  capacity: limits.directory,
  itemsOf: (node) => tree.children(node),
  make: ({ items, separator }) => Node.directory(separator, items as ReadonlyArray<Node>)
})

interface Edited {
  readonly window: Window
  readonly added: number
}

/** The rows of a leaf after sorted edits. */
const editLeaf = (leaf: Node, edits: ReadonlyArray<RowEdit>): Edited => {
  const items: Array<Entry> = []
  let [shrinks, added, at] = [false, 0, 0]
  let inserted: string | undefined
  const before = leaf.entries!
  for (const { entry, key } of edits) {
    for (const place = lowerBound(before, key); at < place; at++) items.push(before[at]!)
    const was = before[at]?.key === key ? before[at++] : undefined
    if (entry === undefined) {
      if (was === undefined) {
        const { path } = leaf.location!
        throw new BrokenTree({ path, message: `${path} lacks a row that is to be removed` })
      }
      shrinks = true
      added--
    } else {
      items.push(was?.line === entry.line ? was : entry)
      if (was === undefined) {
        inserted = strongest(inserted, entry.separator.strength)
        added++
      } else if (entry.weight < was.weight) shrinks = true
    }
  }
  for (; at < before.length; at++) items.push(before[at]!)
  return { window: { nodes: [leaf], items, shrinks, inserted }, added }
}

/** The windows of the directories above replaced groups. */
const parentWindows = (replacements: ReadonlyArray<Replacement>): ReadonlyArray<Window> => {
  const runs: Array<{ readonly nodes: Array<Node>; readonly replacements: Array<Replacement> }> = []
  for (const replacement of replacements) {
    const parents = [...new Set(replacement.before.map(({ parent }) => parent!))]
    const run = runs[runs.length - 1]
    if (run !== undefined && run.nodes[run.nodes.length - 1] === parents[0]) {
      run.nodes.push(...parents.slice(1))
      run.replacements.push(replacement)
    } else runs.push({ nodes: parents, replacements: [replacement] })
  }
  return runs.map(({ nodes, replacements }) => {
    const starts = new Map(replacements.map(({ after, before }) => [before[0]!, after]))
    const gone = new Set(replacements.flatMap(({ before }) => before))
    const items = nodes.flatMap((node) =>
      node.children!.flatMap((child) => starts.get(child) ?? (gone.has(child) ? [] : [child]))
    )
    const names = (of: (replacement: Replacement) => ReadonlyArray<Node>) =>
      new Map(replacements.flatMap(of).map(({ separator }) => [separator.name, separator]))
    const [were, are] = [names(({ before }) => before), names(({ after }) => after)]
    const inserted = [...are].filter(([name]) => !were.has(name)).map(([, { strength }]) => strength)
    return {
      nodes,
      items,
      shrinks: [...were.keys()].some((name) => !are.has(name)),
      inserted: inserted.reduce<string | undefined>(strongest, undefined)
    }
  })
}

/** The root above nodes of one level. */
function* rootOf<E>(
  tree: StoredTree<E>,
  nodes: ReadonlyArray<Item>,
  { capacity, make }: Level
): ReadSteps<Node> {
  let groups = partition(nodes, capacity, least)
  while (groups.length > 1) groups = partition<Item>(groups.map(make), capacity, least)
  let root = make(groups[0]!)
  for (;;) {
    const [only, more] = root.children!
    if (more !== undefined || only!.isLeaf) return root
    root = Node.directory(least, yield* tree.children(only!))
  }
}

/**
 * Applies row edits to a tree; reads only the affected leaves. `tree` is the tree of the collection that the rows
 * describe afterwards. Throws `BrokenTree` if a row to remove is missing, or if a file is damaged.
 */
export function* applyEdits<E>(
  stored: StoredTree<E>,
  edits: RowEdits,
  tree: Oid,
  limits: TreeLimits = formatLimits
): ReadSteps<AppliedEdits> {
  const { header } = stored
  const unsorted = Array.from(edits, ([key, entry]): RowEdit => ({ key, entry }))
  const sorted = yield* withoutReads(Steps.sorted(unsorted, (a, b) => (a.key < b.key ? -1 : 1)))
  const touched = yield* stored.leavesOf(sorted)
  yield* stored.load(touched.map(([leaf]) => leaf))
  let count = header.count
  const windows: Array<Window> = []
  for (const [leaf, share] of touched) {
    yield
    const { added, window } = editLeaf(leaf, share)
    windows.push(window)
    count += added
  }
  const withHeader = (rows: Oid, edits: ReadonlyArray<TreeEdit>): AppliedEdits => {
    const next = { tree, rows, count, index: header.index }
    if (tree === header.tree && rows === header.rows) return { count, edits }
    const content = printHeader(next)
    stored.cacheHeader(next, content)
    return { count, edits: [{ _tag: "Put", path: headerName, content }, ...edits] }
  }
  if (windows.length === 0) return withHeader(header.rows, [])
  const level = directories(stored, limits)
  let up = parentWindows(yield* regroup(stored, leaves(stored, limits), windows))
  while (up[0]!.nodes[0] !== stored.root) up = parentWindows(yield* regroup(stored, level, up))
  const root = yield* rootOf(stored, up[0]!.items, level)
  const changes = yield* differences(stored, stored.root, root, rowsName)
  return withHeader(root.oid, changes)
}
