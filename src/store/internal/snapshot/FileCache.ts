import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { LruCache } from "../../../domain/runtime/LruCache.js"
import * as GitObject from "../../../git/GitObject.js"
import { type Cache, MemoryCache } from "../../Cache.js"
import type { FileVersion } from "../../remote/GitRemote.js"

/** The user's cache, for the files of one branch or commit. A failing cache is treated as an empty one. */
export interface FileCache {
  /** The cached version, which may be outdated. */
  readonly get: (path: string) => Effect.Effect<Option.Option<FileVersion>>
  readonly set: (path: string, file: Option.Option<FileVersion>) => Effect.Effect<void>
  readonly delete: (path: string) => Effect.Effect<void>
  /** Whether the last read of the path found no file. */
  readonly wasAbsent: (path: string) => boolean
  readonly noteAbsent: (path: string) => void
  readonly clear: Effect.Effect<void>
}

/** How many missing paths are recorded. */
const maxAbsent = 1024

/** Whether a cached entry is intact. A custom cache may return anything, and writes rely on the entry. */
const isIntact = (cache: Cache, entry: FileVersion) =>
  cache.constructor === MemoryCache ||
  (entry?.content instanceof Uint8Array && GitObject.hash("blob", entry.content) === entry.oid)

const orIfFailing = <A>(use: () => Effect.Effect<A>, otherwise: A): Effect.Effect<A> =>
  Effect.catchAllCause(Effect.suspend(use), (cause) =>
    Effect.as(Effect.logDebug("a cache failed", cause), otherwise)
  )

/** `owner` names the remote and the branch or commit. */
export const make = (cache: Cache, owner: ReadonlyArray<string>): FileCache => {
  const absences = new LruCache<boolean>(maxAbsent)
  const keyOf = (path: string) => [...owner, path, "blob"].join("\0")
  const remove = (path: string) => orIfFailing(() => cache.delete(keyOf(path)), undefined)
  return {
    get: (path) =>
      orIfFailing(
        () =>
          Effect.map(
            cache.get(keyOf(path)),
            Option.filter((entry) => isIntact(cache, entry))
          ),
        Option.none()
      ),
    set: (path, file) =>
      Effect.suspend(() => {
        if (Option.isNone(file)) {
          absences.set(path, true)
          return remove(path)
        }
        absences.delete(path)
        return orIfFailing(() => cache.set(keyOf(path), file.value), undefined)
      }),
    delete: remove,
    wasAbsent: (path) => absences.get(path) === true,
    noteAbsent: (path) => void absences.set(path, true),
    clear: Effect.suspend(() => {
      absences.clear()
      return orIfFailing(() => cache.clear, undefined)
    })
  }
}
