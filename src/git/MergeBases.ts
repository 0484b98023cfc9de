import { type Steps, stepSize } from "../domain/concurrency/Steps.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import { compareCodePoints } from "../domain/text/CodePointOrder.js"

/** What the search for merge bases reads of a commit. */
export interface DatedCommit {
  readonly parents: ReadonlyArray<Oid>
  /** The committer's date, in any unit: later commits are looked at first. */
  readonly date: number
}

/** A commit by its id; undefined where it is missing. */
export type FindCommit = (oid: Oid) => DatedCommit | undefined

const reachedFromOne = 1
const reachedFromOther = 2
const reachedFromBoth = reachedFromOne | reachedFromOther
/** Reached from a common ancestor that was found already. */
const stale = 4
const result = 8

interface Waiting extends DatedCommit {
  readonly oid: Oid
}

/**
 * Marks what is reached from one commit, and from any of some others, newest first, until everything that waits is
 * reached from a common ancestor (Git's `paint_down_to_common`).
 */
function* paint(
  find: FindCommit,
  requireCommit: (oid: Oid) => DatedCommit,
  one: Oid,
  others: ReadonlyArray<Oid>
): Steps<{ readonly flags: ReadonlyMap<Oid, number>; readonly isWhole: boolean }> {
  const flags = new Map<Oid, number>()
  /** Sorted by date, the newest last. */
  const waiting: Array<Waiting> = []
  let live = 0
  let isWhole = true
  const isStale = (oid: Oid) => (flags.get(oid)! & stale) !== 0
  const queued = new Set<Oid>()
  const mark = (oid: Oid, added: number) => {
    const before = flags.get(oid) ?? 0
    const after = before | added
    if (after === before) return
    flags.set(oid, after)
    if (queued.has(oid)) {
      if ((before & stale) === 0 && (after & stale) !== 0) live--
      return
    }
    const found = (after & stale) === 0 ? requireCommit(oid) : find(oid)
    if (found === undefined) {
      isWhole = false
      return
    }
    let [low, high] = [0, waiting.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (waiting[middle]!.date <= found.date) low = middle + 1
      else high = middle
    }
    waiting.splice(low, 0, { oid, parents: found.parents, date: found.date })
    queued.add(oid)
    if ((after & stale) === 0) live++
  }
  mark(one, reachedFromOne)
  for (const other of others) mark(other, reachedFromOther)
  for (let steps = 1; live > 0; steps++) {
    if (steps % stepSize === 0) yield
    const { oid, parents } = waiting.pop()!
    queued.delete(oid)
    if (!isStale(oid)) live--
    const own = flags.get(oid)!
    let passed = own & (reachedFromBoth | stale)
    if (passed === reachedFromBoth) {
      flags.set(oid, own | result)
      passed |= stale
    }
    for (const parent of parents) mark(parent, passed)
  }
  return { flags, isWhole }
}

/**
 * All best common ancestors of two commits, ordered by their ids: those that are reached from no other common ancestor.
 * Histories that cross have several, unrelated ones none. `missing` makes the error for a commit that must be there.
 */
export function* mergeBases(
  find: FindCommit,
  missing: (oid: Oid) => unknown,
  a: Oid,
  b: Oid
): Steps<ReadonlyArray<Oid>> {
  if (a === b) return [a]
  const requireCommit = (oid: Oid): DatedCommit => {
    const found = find(oid)
    if (found === undefined) throw missing(oid)
    return found
  }
  const first = yield* paint(find, requireCommit, a, [b])
  let found = [...first.flags].flatMap(([oid, flags]) => ((flags & (result | stale)) === result ? [oid] : []))
  // Dates that are wrong may leave a common ancestor of another one among them.
  if (found.length > 1) {
    const painted = first.isWhole ? find : requireCommit
    const best: Array<Oid> = []
    for (const oid of found) {
      const others = found.filter((other) => other !== oid)
      const { flags } = yield* paint(painted, requireCommit, oid, others)
      if ((flags.get(oid)! & reachedFromOther) === 0) best.push(oid)
    }
    found = best
  }
  return found.sort(compareCodePoints)
}
