import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { documentPath, idAt } from "../../DocumentPath.js"
import { type Blob, takesRequests } from "../../remote/GitRemote.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { inChunks, type LocatedListing, readListing } from "../snapshot/Listing.js"

/** The number of documents in one read, if reads cost requests. */
const readGroup = 100
/** The number of documents that are prefetched at once, if the remote can prefetch. */
const prefetchGroup = 10_000

/** The files of a listing in order; through the cache, if reads cost requests. */
export const documentFiles = (
  core: StoreCore,
  collection: string,
  { at, listing, prefix, settings }: LocatedListing
): Stream.Stream<Blob, ReadError> => {
  const { concurrency } = core.options
  if (!takesRequests(core.remote)) return readListing(core.remote, at, prefix, listing, concurrency)
  return Stream.suspend(() => {
    const root = core.options.root
    const { prefetchBlobs } = core.remote
    /** Files before this position have been prefetched. */
    let end = 0
    const prefetchFrom = (from: number) =>
      Effect.suspend(() => {
        if (prefetchBlobs === undefined || from < end) return Effect.void
        end = Math.min(listing.length, from + prefetchGroup)
        return prefetchBlobs(
          listing
            .range(from, end)
            .entries()
            .map(({ oid }) => oid)
        )
      })
    return Stream.flatMap(Stream.zipWithIndex(inChunks(listing, readGroup)), ([part, index]) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const entries = part.entries()
          const cached = new Map<string, Blob>()
          const cachePath = (id: string) => documentPath(root, settings, collection, id)
          for (const { id, oid, path } of entries) {
            const entry = yield* core.cache.get(cachePath(id))
            if (Option.isSome(entry) && entry.value.oid === oid) {
              cached.set(path, { path: prefix + path, oid, content: entry.value.content })
            }
          }
          const missing = entries.flatMap(({ oid, path }) =>
            cached.has(path) ? [] : [{ path: prefix + path, oid }]
          )
          if (missing.length > 0) {
            yield* prefetchFrom(index * readGroup)
            yield* Stream.runForEach(core.remote.blobs(at, missing, { concurrency }), (blob) => {
              const path = blob.path.slice(prefix.length)
              cached.set(path, blob)
              const id = idAt(settings, path)
              return id === undefined
                ? Effect.void
                : core.cache.set(cachePath(id), Option.some({ oid: blob.oid, content: blob.content }))
            })
          }
          return Stream.fromIterable(
            entries.flatMap(({ path }) => {
              const blob = cached.get(path)
              return blob === undefined ? [] : [blob]
            })
          )
        })
      )
    )
  })
}
