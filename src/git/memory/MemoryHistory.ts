import type { MemoryCommit, MemoryRepository } from "./MemoryRepository.js"

/**
 * Commits that changed `path`, newest first. A merge that took the path from one parent unchanged is passed over
 * in that parent's favour, as `git log` does.
 */
export function* logOf(
  repository: MemoryRepository,
  from: MemoryCommit,
  path: string
): Generator<MemoryCommit> {
  const waiting = new Map([[from.oid, from]])
  while (waiting.size > 0) {
    let newest: MemoryCommit | undefined
    for (const commit of waiting.values()) {
      if (newest === undefined || commit.sequence > newest.sequence) newest = commit
    }
    const commit = newest!
    waiting.delete(commit.oid)
    const parents = commit.parents.flatMap((oid) => repository.commits.get(oid) ?? [])
    const at = (of: MemoryCommit) => repository.lookup(of.tree, path)?.oid
    const own = at(commit)
    const same = path === "" ? undefined : parents.find((parent) => at(parent) === own)
    if (same === undefined && (own !== undefined || parents.length > 0)) yield commit
    for (const parent of same === undefined ? parents : [same]) waiting.set(parent.oid, parent)
  }
}
