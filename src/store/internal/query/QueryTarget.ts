import * as Chunk from "effect/Chunk"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { forEachChunk } from "../../../domain/concurrency/Streams.js"
import * as TimeSlice from "../../../domain/concurrency/TimeSlice.js"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { parseObject } from "../../../domain/json/JsonText.js"
import {
  type LosslessObject,
  mayNeedLossless,
  parseLosslessOrEmpty
} from "../../../domain/json/LosslessJson.js"
import { matcherOf } from "../../../domain/query/Matching.js"
import { idKey, sortKeys } from "../../../domain/query/Ordering.js"
import { isAlways } from "../../../domain/query/Predicate.js"
import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"
import { documentPath } from "../../DocumentPath.js"
import type { Blob } from "../../remote/GitRemote.js"
import type { Snapshot, StoreCore } from "../commit/StoreCore.js"
import type { CursorPosition } from "./QueryCursor.js"
import type { Keyed } from "./SortedStreams.js"

/**
 * An index or a manifest does not agree with a document: the branch moved between two reads, or a file was edited
 * manually.
 */
export class IndexMismatch extends Data.TaggedError("IndexMismatch") {}

/** A file with the object that it contains; undefined if it contains none. */
export interface ParsedFile extends Blob {
  readonly object: JsonObject | undefined
}

/** A document that matches a query. */
export interface Match extends Keyed {
  readonly id: string
  /** As JavaScript represents it; `_id` is the id of the file's name. */
  readonly document: JsonObject
  /** Undefined if the document was read from a manifest. */
  readonly file: ParsedFile | undefined
}

/** How much a query has read. */
export interface ReadCounts {
  entries: number
  documents: number
}

/** A query of a collection, at one snapshot. */
export interface QueryTarget {
  readonly core: StoreCore
  readonly collection: string
  readonly snapshot: Snapshot
  readonly query: CheckedQuery
  /** Only documents after this position match. */
  readonly after: CursorPosition | undefined
  /** The number of documents to find, if it is known. */
  readonly limit: number | undefined
  /** Whether files without a JSON object always match; otherwise they are treated as empty documents. */
  readonly findsUnreadable: boolean
  /** Whether everything is read of one commit; otherwise an index that disagrees with documents may only have been read earlier. */
  readonly isPinned: boolean
  readonly reads: ReadCounts
}

/** Where a document stands in the order of a query. */
export const positionOf = ({ order }: CheckedQuery, { id, key }: Match): CursorPosition => ({
  key,
  fields: key.slice(0, key.length - idKey(id, order.ids).length)
})

/** A document in the two ways it is looked at: as JavaScript reads it, and with its numbers as they are spelled. */
export interface ReadDocument {
  readonly id: string
  readonly document: JsonObject
  readonly spelled: LosslessObject
  readonly file: ParsedFile
}

const decoder = new TextDecoder()

/** The id of the document in a file. */
const idOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1, -".json".length)

/** The document of a file; a file without a JSON object is treated as an empty document. */
const readFile = (blob: Blob): ReadDocument => {
  const id = idOf(blob.path)
  const object = Either.getOrUndefined(parseObject(blob.content))
  const document: { [key: string]: Json } = object ?? {}
  const spelled =
    object !== undefined && mayNeedLossless(decoder.decode(blob.content))
      ? parseLosslessOrEmpty(blob.content)
      : document
  if (!Object.hasOwn(document, "_id") || document["_id"] !== id) document["_id"] = id
  return { id, document, spelled, file: { ...blob, object } }
}

/** Tests documents against a query, and computes their sort keys. */
export const filterOf = ({ after, findsUnreadable, query }: QueryTarget) => {
  const matches = matcherOf(query.predicate)
  const keyOf = sortKeys(query.order, query.predicate)
  const isBehind = (key: string) => after === undefined || key > after.key
  return {
    matches,
    keyOf,
    isBehind,
    /** The document as a match; undefined if it does not match. */
    found: ({ document, file, id, spelled }: ReadDocument): Match | undefined => {
      const isFound = matches(document) || (findsUnreadable && file.object === undefined)
      if (!isFound) return undefined
      const key = keyOf(spelled, id)
      return isBehind(key) ? { key, id, document, file } : undefined
    }
  }
}

/** The matching documents among files, in the order of the files. */
export const matchesAmong = <E>(
  target: QueryTarget,
  files: Stream.Stream<Blob, E>
): Stream.Stream<Match, E> =>
  Stream.suspend(() => {
    const judge = filterOf(target)
    const slice = TimeSlice.make()
    return Stream.mapChunksEffect(files, (blobs) =>
      Effect.gen(function* () {
        const all: Array<Match> = []
        for (const blob of blobs) {
          if (slice.isSpent()) yield* slice.pause
          target.reads.documents++
          const found = judge.found(readFile(blob))
          if (found !== undefined) all.push(found)
        }
        return Chunk.unsafeFromArray(all)
      })
    )
  })

/** The files of documents by id, in order; missing ones are skipped. */
export const documentFilesById = (
  { collection, core, snapshot }: QueryTarget,
  ids: ReadonlyArray<string>
): Stream.Stream<Blob, ReadError> =>
  Effect.map(core.settings(snapshot), ({ settings }) => {
    const { concurrency, root } = core.options
    const paths = ids.map((id) => documentPath(root, settings, collection, id))
    // The read set has the collection already. With the paths, it would grow with each document that is streamed.
    return snapshot.untracked.files(paths, { concurrency })
  }).pipe(Stream.unwrap)

/** Documents by id; missing ones are skipped. */
export const readDocumentsById = (
  target: QueryTarget,
  ids: ReadonlyArray<string>
): Effect.Effect<ReadonlyMap<string, ReadDocument>, ReadError> =>
  Effect.gen(function* () {
    const documents = new Map<string, ReadDocument>()
    if (ids.length === 0) return documents
    const slice = TimeSlice.make()
    yield* forEachChunk(documentFilesById(target, ids), (blobs) =>
      Effect.gen(function* () {
        for (const blob of blobs) {
          const read = readFile(blob)
          documents.set(read.id, read)
          if (slice.isSpent()) yield* slice.pause
        }
      })
    )
    target.reads.documents += ids.length
    return documents
  })

/** The most documents that are read together. */
const maxGroup = 512

/** The fewest that are read together if some of them may not match. */
const minGroup = 20

/** How many documents a query reads together, so that it reads few beyond its limit; `sure`: all of them match. */
export const readGroupSize = ({ limit, query }: QueryTarget, sure = isAlways(query.predicate)): number => {
  if (limit === undefined) return maxGroup
  return Math.min(maxGroup, Math.max(limit, sure ? 1 : minGroup))
}
