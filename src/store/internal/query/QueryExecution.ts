import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { idKey } from "../../../domain/query/Ordering.js"
import { isAlways } from "../../../domain/query/Predicate.js"
import type { QueryReads } from "../../Collection.js"
import type { Blob } from "../../remote/GitRemote.js"
import { inChunks, type Listing, type LocatedListing } from "../snapshot/Listing.js"
import { documentFiles } from "./DocumentFiles.js"
import type { QueryPlan } from "./QueryPlan.js"
import {
  type IndexMismatch,
  type Match,
  matchesAmong,
  type QueryTarget,
  readGroupSize
} from "./QueryTarget.js"

/** A plan that is ready to run: its matches, its cost, and how to explain it. */
export interface QueryExecution<E = ReadError | IndexMismatch> {
  readonly plan: QueryPlan
  /** Why no better plan was used, or whether the index is current. */
  readonly reason: string
  readonly isCurrent: boolean
  /** The path of the index or the manifest. */
  readonly path: string | undefined
  /** The matching documents after the start position. */
  readonly matches: Stream.Stream<Match, E>
  /** Whether `matches` are in the order of the query and without duplicates. */
  readonly isOrdered: boolean
  /** What is read without a limit. */
  readonly estimate: Effect.Effect<QueryReads, ReadError>
  /** The number of matches, if it is known without reading the documents. */
  readonly count?: Effect.Effect<number, E> | undefined
}

const chunkSize = 100

/** The parts of a listing, from the last document to the first. */
const partsBackwards = (listing: Listing): Stream.Stream<Listing> =>
  Stream.unfold(listing.length, (to) => {
    const from = Math.max(0, to - chunkSize)
    return to === 0 ? Option.none() : Option.some([listing.range(from, to), from] as const)
  })

/** The number of documents before a position in the order of ids. */
const countBefore = (listing: Listing, isBehind: (id: string) => boolean): number => {
  let [low, high] = [0, listing.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBehind(listing.id(middle))) high = middle
    else low = middle + 1
  }
  return low
}

/** The files of a collection in order of id; after the start position, if ids are the query's order. */
const scannedFiles = (target: QueryTarget, located: LocatedListing): Stream.Stream<Blob, ReadError> => {
  const { after, collection, core, query } = target
  const { fields, ids } = query.order
  const files = (listing: Listing) => documentFiles(core, collection, { ...located, listing })
  const { listing } = located
  if (fields.length > 0) return files(listing)
  if (ids === "asc") {
    const from = after === undefined ? 0 : countBefore(listing, (id) => idKey(id, "asc") > after.key)
    const behind = listing.range(from, listing.length)
    // Reads ahead only as far as the limit requires.
    return readGroupSize(target) < chunkSize
      ? Stream.flatMap(inChunks(behind, readGroupSize(target)), files)
      : files(behind)
  }
  const to =
    after === undefined ? listing.length : countBefore(listing, (id) => idKey(id, "desc") <= after.key)
  return Stream.flatMap(partsBackwards(listing.range(0, to)), (part) =>
    Stream.unwrap(
      Effect.map(Stream.runCollect(files(part)), (blobs) => Stream.fromChunk(Chunk.reverse(blobs)))
    )
  )
}

/** Why an index or a manifest cannot be used. */
export interface UnusableIndex {
  readonly reason: string
  /** Its path, if it exists. */
  readonly path?: string | undefined
  readonly isCurrent?: boolean
}

/** Reads every document. */
export const scanExecution = (
  target: QueryTarget,
  { isCurrent = true, path, reason }: UnusableIndex
): QueryExecution<ReadError> => {
  const { after, collection, core, query, snapshot } = target
  const located = Effect.suspend(() => core.listing(snapshot, collection))
  const length = Effect.map(located, ({ listing }) => listing.length)
  return {
    plan: { _tag: "Scan", reason },
    reason,
    isCurrent,
    path,
    isOrdered: query.order.fields.length === 0,
    estimate: Effect.map(length, (documents) => ({ entries: 0, documents })),
    matches: Stream.unwrap(Effect.map(located, (found) => matchesAmong(target, scannedFiles(target, found)))),
    count: isAlways(query.predicate) && after === undefined ? length : undefined
  }
}
