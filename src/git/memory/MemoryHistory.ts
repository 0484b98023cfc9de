import type { MemoryCommit, MemoryRepository } from "./MemoryRepository.js"

/**
 * The commits that changed `path`, newest first. Like `git log`, it follows only the parent from which a merge took the path
 * unchanged.
 */
export function* logOf(
  repository: MemoryRepository,
  from: MemoryCommit,
  path: string
): Generator<MemoryCommit> {
  const pending = new Map([[from.oid, from]])
  while (pending.size > 0) {
    let newest: MemoryCommit | undefined
    for (const commit of pending.values()) {
      if (newest === undefined || commit.sequence > newest.sequence) newest = commit
    }
    const commit = newest!
    pending.delete(commit.oid)
    const parents = commit.parents.flatMap((oid) => repository.commits.get(oid) ?? [])
    const at = (of: MemoryCommit) => repository.lookup(of.tree, path)?.oid
    const own = at(commit)
    const same = path === "" ? undefined : parents.find((parent) => at(parent) === own)
    if (same === undefined && (own !== undefined || parents.length > 0)) yield commit
    for (const parent of same === undefined ? parents : [same]) pending.set(parent.oid, parent)
  }
}
