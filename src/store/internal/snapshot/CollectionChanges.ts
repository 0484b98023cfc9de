import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Streams from "../../../domain/concurrency/Streams.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import { emptyTree, type Oid } from "../../../domain/identifiers/Oid.js"
import type { DocumentChange } from "../../../domain/indexes/IndexFile.js"
import { type LosslessObject, parseLosslessOrEmpty } from "../../../domain/json/LosslessJson.js"
import type { Layout } from "../../../domain/settings/Settings.js"
import { blobSides } from "../../../git/Tree.js"
import { idAt, placeOf } from "../../DocumentPath.js"
import type { GitRemoteService, RemoteFailure } from "../../remote/GitRemote.js"

/**
 * A document that differs between two trees of its collection, with its blob in each; undefined if it is missing there.
 */
export interface ChangedBlobs {
  readonly id: string
  readonly path: string
  readonly before: Oid | undefined
  readonly after: Oid | undefined
}

/** Whether a failure means that the repository does not contain the tree. */
const isGone = (error: RemoteFailure): boolean =>
  error._tag === "NotFoundError" ||
  (error._tag === "RemoteError" && (error as RemoteError).reason === "Corrupt")

/**
 * The documents that differ between two trees of a collection. None if they cannot be determined: the first tree is
 * gone, the layout has changed, or documents (or possibly copies of them) are in other directories than the layout
 * prescribes.
 */
export const changedBlobs = (
  remote: GitRemoteService,
  layout: Layout,
  before: Oid,
  after: Oid
): Effect.Effect<Option.Option<ReadonlyArray<ChangedBlobs>>, RemoteFailure> =>
  Effect.gen(function* () {
    if (after === emptyTree) return Option.none()
    const from = before === emptyTree ? Option.none() : Option.some(before)
    const found: Array<ChangedBlobs> = []
    const slice = TimeSlice.make()
    for (const change of yield* remote.diff(from, after)) {
      if (slice.isSpent()) yield* slice.pause
      const { path } = change
      // A submodule is not a document, whatever its name.
      const { after, before } = blobSides(change)
      // A change of the file mode alone does not change the document.
      if (!path.endsWith(".json") || Equal.equals(before, after)) continue
      const id = idAt(layout, path)
      if (id === undefined || placeOf(layout, id) !== path) return Option.none()
      // If the document is removed from its own path, a copy in another directory takes its place.
      if (layout.shardDepth > 0 && layout.shardBy === "hash" && Option.isNone(after)) {
        return Option.none()
      }
      found.push({
        id,
        path,
        before: Option.getOrUndefined(before),
        after: Option.getOrUndefined(after)
      })
    }
    return Option.some(found)
  }).pipe(Effect.catchIf(isGone, () => Effect.succeedNone))

/** Reads the contents of the documents that differ between two trees of a collection. */
export const changedDocuments = (
  remote: GitRemoteService,
  trees: { readonly before: Oid; readonly after: Oid },
  changes: ReadonlyArray<ChangedBlobs>,
  concurrency: number
): Effect.Effect<ReadonlyArray<DocumentChange>, RemoteFailure> => {
  const read = (tree: Oid, side: "before" | "after") => {
    const files = changes.flatMap(({ path, [side]: oid }) => (oid === undefined ? [] : [{ path, oid }]))
    return Effect.gen(function* () {
      const found = new Map<string, LosslessObject>()
      if (files.length === 0) return found
      const slice = TimeSlice.make()
      yield* Streams.forEach(remote.blobs(tree, files, { concurrency }), ({ content, path }) => {
        found.set(path, parseLosslessOrEmpty(content))
        return slice.isSpent() ? slice.pause : Effect.void
      })
      return found
    })
  }
  return Effect.map(
    Effect.all([read(trees.before, "before"), read(trees.after, "after")]),
    ([before, after]) =>
      changes.map(({ id, path }): DocumentChange => {
        const was = before.get(path)
        return { id, document: after.get(path), before: was && (() => was) }
      })
  )
}
