import type { Oid } from "../domain/identifiers/Oid.js"

/** The commits of a walk. */
export interface CommitSource<C> {
  /** Finds a commit; undefined if it is missing. */
  readonly find: (oid: Oid) => C | undefined
  /** Orders commits. The newest has the largest number. */
  readonly age: (commit: C) => number
  /** Identifies the entry at the path in a commit; undefined if it has none. */
  readonly entry: (commit: C) => string | undefined
}

/**
 * The commits that changed a path, newest first; all commits if `isLimited` is false. Like `git log`, it follows only the parent
 * from which a merge took the path unchanged.
 */
export function* commitLog<C extends { readonly parents: ReadonlyArray<Oid> }>(
  { age, entry, find }: CommitSource<C>,
  from: Oid,
  isLimited: boolean
): Generator<C> {
  const seen = new Set<Oid>()
  const pending: Array<C> = []
  const add = (oid: Oid, commit: C | undefined) => {
    if (seen.has(oid) || commit === undefined) return
    seen.add(oid)
    pending.push(commit)
  }
  add(from, find(from))
  while (pending.length > 0) {
    let newest = 0
    for (let at = 1; at < pending.length; at++) {
      if (age(pending[at]!) > age(pending[newest]!)) newest = at
    }
    const [commit] = pending.splice(newest, 1) as [C]
    const parents = commit.parents.map((oid) => [oid, find(oid)] as const)
    const own = isLimited ? entry(commit) : ""
    const same = isLimited
      ? parents.find(([, parent]) => parent !== undefined && entry(parent) === own)
      : undefined
    if (same === undefined && (own !== undefined || parents.length > 0)) yield commit
    for (const [oid, parent] of same === undefined ? parents : [same]) add(oid, parent)
  }
}
