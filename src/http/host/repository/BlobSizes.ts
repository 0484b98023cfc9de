import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { TreeEntry } from "../../../git/Tree.js"

// An object id determines the size of its blob, so sizes are cached across repositories without expiry. 500,000
// entries take 15 MB in a plain map and 47 MB in an LRU cache.
const sizes = new Map<Oid, number>()
const maxSizes = 500_000

/** The size of a blob, if it is in the listing or in the cache. */
export const known = (entry: TreeEntry): number | undefined => entry.size ?? sizes.get(entry.oid)

/** The size of a blob; undefined for trees and submodules. */
export const of = (git: GitRepository, entry: TreeEntry): Effect.Effect<number | undefined, RemoteError> => {
  if (entry.kind !== "blob") return Effect.void as Effect.Effect<undefined>
  const size = known(entry)
  if (size !== undefined) return Effect.succeed(size)
  return Effect.map(git.objectInfo(entry.oid), (info) => {
    if (Option.isNone(info)) return undefined
    if (sizes.size >= maxSizes) sizes.clear()
    sizes.set(entry.oid, info.value.size)
    return info.value.size
  })
}
