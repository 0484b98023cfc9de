import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { documentIn } from "../../domain/SpelledJson.js"
import type { ReadError } from "../../domain/StoreError.js"
import { documentPath } from "../DocumentPath.js"
import type { Blob } from "../remote/GitRemote.js"
import type { LookupPlan } from "./LookupPlan.js"
import type { Snapshot, StoreCore } from "./StoreCore.js"

type IndexLookup = Extract<LookupPlan, { readonly _tag: "Index" }>

/** An index names a document that is not as it says: the branch moved between two reads, or the file was edited. */
export class IndexDisagrees extends Data.TaggedError("IndexDisagrees") {}

/** The files of some documents by id, those that are there, in order. */
export const filesById = (
  core: StoreCore,
  snapshot: Snapshot,
  collection: string,
  ids: ReadonlyArray<string>
): Stream.Stream<Blob, ReadError> =>
  Effect.map(core.settings(snapshot), ({ settings }) => {
    const { concurrency, root } = core.options
    const paths = ids.map((id) => documentPath(root, settings, collection, id))
    return snapshot.files(paths, { concurrency })
  }).pipe(Stream.unwrap)

/** The id of the document that lies in a file. */
export const idOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1, -".json".length)

/**
 * The files of documents that an index names, in order of id. A current index that is wrong about one of them fails
 * with `IndexDisagrees`; one that is trusted although it names no version may be wrong.
 */
export const indexedFiles = (
  core: StoreCore,
  snapshot: Snapshot,
  collection: string,
  { exact, ids, names }: IndexLookup,
  after: string | undefined
): Stream.Stream<Blob, ReadError | IndexDisagrees> =>
  Stream.suspend(() => {
    const wanted = after === undefined ? ids : ids.filter((id) => id > after)
    if (wanted.length === 0) return Stream.empty
    const files = filesById(core, snapshot, collection, wanted)
    if (!exact) return files
    let read = 0
    const checked = Stream.mapChunksEffect(
      files,
      (blobs): Effect.Effect<Chunk.Chunk<Blob>, IndexDisagrees> => {
        read += blobs.length
        return Chunk.every(blobs, ({ content, path }) => names(idOf(path), documentIn(content)))
          ? Effect.succeed(blobs)
          : Effect.fail(new IndexDisagrees())
      }
    )
    const end = Stream.suspend(() =>
      read < wanted.length ? Stream.fail(new IndexDisagrees()) : Stream.empty
    )
    return Stream.concat(checked, end)
  })
