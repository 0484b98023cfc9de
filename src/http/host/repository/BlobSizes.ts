import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { Oid } from "../../../domain/identifiers/Oid.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { TreeEntry } from "../../../git/Tree.js"

// A blob's size follows from its id: what was looked up once holds for ever, in every repository.
// So many take 15 MB in a plain map, and would take 47 MB where their order of use is kept.
const sizes = new Map<Oid, number>()
const maxSizes = 500_000

/** The size of a blob in a listing, if it is known without looking. */
export const known = (entry: TreeEntry): number | undefined => entry.size ?? sizes.get(entry.oid)

/** The size of a blob in a listing; none for trees and submodules. */
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
