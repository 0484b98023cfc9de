import type { Node } from "./Node.js"
import { type Group, type Item, isStrongerThanEarlier, isStrongerThanLater, partition } from "./Partition.js"
import type { ReadSteps } from "./ReadSteps.js"
import { least, type Separator } from "./Separator.js"
import type { StoredTree } from "./StoredTree.js"

/*
 * Regroups the changed part of one level with as few reads as possible. A window is a sequence of adjacent groups with
 * their new items. It can be grouped on its own if both of its edges remain boundaries: then an entry inside is a
 * boundary if it is stronger than an edge, or if its surroundings within the window are too heavy.
 *
 * An edge remains a boundary if its surroundings only grew. Otherwise the group on the other side is examined. If the
 * far boundary of that group is weaker than the edge, the edge's surroundings include those of that boundary, which are
 * heavy enough (by induction: the weakest of several boundaries has the two adjacent groups as its surroundings). If it
 * is stronger, the surroundings end there and are weighed; if they have become too light, the window is extended by
 * that group.
 */

/** Adjacent groups of one level, with their new items. */
export interface Window {
  readonly nodes: ReadonlyArray<Node>
  readonly items: ReadonlyArray<Item>
  /** Whether an item was removed or became lighter. */
  readonly shrinks: boolean
  /** The strength of the strongest inserted item. */
  readonly inserted: string | undefined
}

/** The properties of a level of the tree. */
export interface Level {
  readonly capacity: number
  /** The items of a stored group. */
  readonly itemsOf: (node: Node) => ReadSteps<ReadonlyArray<Item>>
  readonly make: (group: Group<Item>) => Node
}

/** Groups, and the groups that replace them. */
export interface Replacement {
  readonly before: ReadonlyArray<Node>
  readonly after: ReadonlyArray<Node>
}

export const strongest = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined ? b : b === undefined || a < b ? a : b

const weightOf = (items: ReadonlyArray<Item>): number => items.reduce((sum, { weight }) => sum + weight, 0)

const first = ({ nodes }: Window): Node => nodes[0]!
const last = ({ nodes }: Window): Node => nodes[nodes.length - 1]!

/** The next node of the level, if it is known without reading. */
const knownNext = (node: Node): Node | undefined => {
  const { parent } = node
  if (parent === undefined) return undefined
  const sibling = parent.children![parent.children!.indexOf(node) + 1]
  return sibling ?? knownNext(parent)?.children?.[0]
}

/** The beginning of the group after a node; undefined at the end of the tree. */
const separatorAfter = (node: Node): Separator | undefined => {
  const { parent } = node
  if (parent === undefined) return undefined
  return parent.children![parent.children!.indexOf(node) + 1]?.separator ?? separatorAfter(parent)
}

const joined = (a: Window, b: Window): Window => ({
  nodes: [...a.nodes, ...b.nodes],
  items: [...a.items, ...b.items],
  shrinks: a.shrinks || b.shrinks,
  inserted: strongest(a.inserted, b.inserted)
})

const withNeighboursJoined = (windows: ReadonlyArray<Window>): Array<Window> => {
  const found: Array<Window> = []
  for (const window of windows) {
    const before = found[found.length - 1]
    if (before !== undefined && knownNext(last(before)) === first(window)) {
      found[found.length - 1] = joined(before, window)
    } else found.push(window)
  }
  return found
}

/** Whether the surroundings of the edge only grew. */
const onlyGrew = (window: Window, edge: Separator): boolean =>
  !window.shrinks && (window.inserted === undefined || window.inserted > edge.strength)

const holdsStart = (window: Window): boolean => {
  const { separator } = first(window)
  return separator === least || window.items[0]?.separator.name === separator.name
}

/** Whether the left edge of the window remains a boundary. */
function* keepsLeft<E>(tree: StoredTree<E>, { capacity }: Level, window: Window): ReadSteps<boolean> {
  const { separator } = first(window)
  if (separator === least) return true
  if (!holdsStart(window)) return false
  if (onlyGrew(window, separator)) return true
  const before = (yield* tree.sibling(first(window), -1))!
  if (!isStrongerThanLater(before.separator, separator)) return true
  const { items } = window
  const end = items.findIndex((item, at) => at > 0 && isStrongerThanEarlier(item.separator, separator))
  if (end < 0) {
    const after = separatorAfter(last(window))
    if (after !== undefined && !isStrongerThanEarlier(after, separator)) return true
  }
  const inside = weightOf(end < 0 ? items : items.slice(0, end))
  return inside > capacity || inside + (yield* tree.weight(before)) > capacity
}

/** Whether the right edge of the window remains a boundary. */
function* keepsRight<E>(tree: StoredTree<E>, { capacity }: Level, window: Window): ReadSteps<boolean> {
  const edge = separatorAfter(last(window))
  if (edge === undefined || onlyGrew(window, edge)) return true
  const after = (yield* tree.sibling(last(window), 1))!
  const beyond = separatorAfter(after)
  if (beyond !== undefined && !isStrongerThanEarlier(beyond, edge)) return true
  const { items } = window
  const start = items.findLastIndex((item) => isStrongerThanLater(item.separator, edge))
  if (start < 0 && !isStrongerThanLater(first(window).separator, edge)) return true
  const inside = weightOf(items.slice(Math.max(0, start)))
  return inside > capacity || inside + (yield* tree.weight(after)) > capacity
}

/** Whether a stored group contains exactly these items. */
const holds = ({ children, entries }: Node, items: ReadonlyArray<Item>): boolean => {
  const stored: ReadonlyArray<Item> | undefined = entries ?? children
  return stored?.length === items.length && items.every((item, at) => item === stored[at])
}

const grouped = ({ capacity, make }: Level, window: Window): Replacement => {
  const { items, nodes } = window
  const start = first(window).separator
  const next = separatorAfter(last(window))
  const staysOne =
    nodes.length === 1 &&
    weightOf(items) <= capacity &&
    onlyGrew({ ...window, shrinks: false }, start) &&
    (next === undefined || onlyGrew({ ...window, shrinks: false }, next))
  const groups = staysOne ? [{ separator: start, items }] : partition(items, capacity, start, next)
  const stored = new Map(nodes.map((node) => [node.separator.name, node]))
  const after = groups.map((group) => {
    const node = stored.get(group.separator.name)
    return node !== undefined && holds(node, group.items) ? node : make(group)
  })
  return { before: nodes, after }
}

/** Regroups windows, which are in order and disjoint. */
export function* regroup<E>(
  tree: StoredTree<E>,
  level: Level,
  windows: ReadonlyArray<Window>
): ReadSteps<ReadonlyArray<Replacement>> {
  let current = withNeighboursJoined(windows)
  for (;;) {
    const extended: Array<Window> = []
    const taken = new Set(current.flatMap(({ nodes }) => nodes))
    let settled = true
    for (const window of current) {
      let next = window
      const sides = [
        (yield* keepsLeft(tree, level, window)) ? undefined : (-1 as const),
        (yield* keepsRight(tree, level, window)) ? undefined : (1 as const)
      ]
      for (const side of sides) {
        if (side === undefined) continue
        const node = (yield* tree.sibling(side === 1 ? last(window) : first(window), side))!
        settled = false
        // Another window was extended by this node in the same round: the two are adjacent now.
        if (taken.has(node)) continue
        taken.add(node)
        const items = yield* level.itemsOf(node)
        const more: Window = { nodes: [node], items, shrinks: false, inserted: undefined }
        next = side === 1 ? joined(next, more) : joined(more, next)
      }
      extended.push(next)
    }
    current = withNeighboursJoined(extended)
    if (!settled) continue
    const replacements: Array<Replacement> = []
    for (const window of current) {
      yield
      replacements.push(grouped(level, window))
    }
    return replacements
  }
}
