import { type Steps, stepSize } from "../domain/concurrency/Steps.js"
import type { Oid } from "../domain/identifiers/Oid.js"
import { compareCodePoints } from "../domain/text/CodePointOrder.js"

/** The parts of a commit that the search for merge bases reads. */
export interface DatedCommit {
  readonly parents: ReadonlyArray<Oid>
  /** The committer's date, in any unit. Newer commits are visited first. */
  readonly date: number
}

/** Finds a commit; undefined if it is missing. */
export type FindCommit = (oid: Oid) => DatedCommit | undefined

const reachedFromOne = 1
const reachedFromOther = 2
const reachedFromBoth = reachedFromOne | reachedFromOther
/** An ancestor of a common ancestor that was found already. */
const stale = 4
const result = 8

interface QueuedCommit extends DatedCommit {
  readonly oid: Oid
}

/**
 * Marks the commits that are reachable from one commit, and from any of some others. Visits the newest first, and stops when
 * every queued commit is an ancestor of a common ancestor (Git's `paint_down_to_common`).
 */
function* paint(
  find: FindCommit,
  requireCommit: (oid: Oid) => DatedCommit,
  one: Oid,
  others: ReadonlyArray<Oid>
): Steps<{ readonly flags: ReadonlyMap<Oid, number>; readonly isComplete: boolean }> {
  const flags = new Map<Oid, number>()
  /** Sorted by date, the newest last. */
  const queue: Array<QueuedCommit> = []
  let live = 0
  let isComplete = true
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
      isComplete = false
      return
    }
    let [low, high] = [0, queue.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (queue[middle]!.date <= found.date) low = middle + 1
      else high = middle
    }
    queue.splice(low, 0, { oid, parents: found.parents, date: found.date })
    queued.add(oid)
    if ((after & stale) === 0) live++
  }
  mark(one, reachedFromOne)
  for (const other of others) mark(other, reachedFromOther)
  for (let steps = 1; live > 0; steps++) {
    if (steps % stepSize === 0) yield
    const { oid, parents } = queue.pop()!
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
  return { flags, isComplete }
}

/**
 * The best common ancestors of two commits, ordered by id: those that are not ancestors of another common ancestor. Criss-cross
 * histories have several, and unrelated ones have none. `missing` makes the error for a required commit that is missing.
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
  // With wrong dates, an ancestor of another result may be among the results.
  if (found.length > 1) {
    const painted = first.isComplete ? find : requireCommit
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
