import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { ReadError } from "../../../domain/errors/StoreError.js"
import { idKey } from "../../../domain/query/Ordering.js"
import { isAlways } from "../../../domain/query/Predicate.js"
import type { QueryReads } from "../../Collection.js"
import type { Blob } from "../../remote/GitRemote.js"
import { type Listing, type LocatedListing, partsOf } from "../snapshot/Listing.js"
import { documentFiles } from "./DocumentFiles.js"
import type { Plan } from "./QueryPlan.js"
import { type Found, foundAmong, groupOf, type IndexDisagrees, type Target } from "./QueryTarget.js"

/** How a query is answered, for those who ask. */
export interface Way<E = ReadError | IndexDisagrees> {
  readonly plan: Plan
  /** Why not better, or whether the index is behind. */
  readonly reason: string
  readonly isCurrent: boolean
  /** The path of the index or the manifest. */
  readonly path: string | undefined
  /** Documents that the query finds, behind the place where it begins. */
  readonly found: Stream.Stream<Found, E>
  /** Whether they are in the order of the query, each once. */
  readonly isOrdered: boolean
  /** What is read without a limit. */
  readonly estimate: Effect.Effect<QueryReads, ReadError>
  /** How many documents the query finds, where that is known without reading them. */
  readonly counted?: Effect.Effect<number, E> | undefined
}

const inParts = 100

/** A listing from its last document to its first, in parts. */
const partsBackwards = (listing: Listing): Stream.Stream<Listing> =>
  Stream.unfold(listing.length, (to) => {
    const from = Math.max(0, to - inParts)
    return to === 0 ? Option.none() : Option.some([listing.part(from, to), from] as const)
  })

/** How many documents of a listing stand before a place in the order of ids. */
const upTo = (listing: Listing, isBehind: (id: string) => boolean): number => {
  let [low, high] = [0, listing.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBehind(listing.id(middle))) high = middle
    else low = middle + 1
  }
  return low
}

/** The files of a collection in the order of their ids, behind a place of this order where it is the query's. */
const scannedFiles = (target: Target, located: LocatedListing): Stream.Stream<Blob, ReadError> => {
  const { after, collection, core, query } = target
  const { fields, ids } = query.order
  const files = (listing: Listing) => documentFiles(core, collection, { ...located, listing })
  const { listing } = located
  if (fields.length > 0) return files(listing)
  if (ids === "asc") {
    const from = after === undefined ? 0 : upTo(listing, (id) => idKey(id, "asc") > after.key)
    const behind = listing.part(from, listing.length)
    // Reads ahead only as far as the limit goes.
    return groupOf(target) < inParts ? Stream.flatMap(partsOf(behind, groupOf(target)), files) : files(behind)
  }
  const to = after === undefined ? listing.length : upTo(listing, (id) => idKey(id, "desc") <= after.key)
  return Stream.flatMap(partsBackwards(listing.part(0, to)), (part) =>
    Stream.unwrap(
      Effect.map(Stream.runCollect(files(part)), (blobs) => Stream.fromChunk(Chunk.reverse(blobs)))
    )
  )
}

/** Why an index or a manifest is not used. */
export interface Unusable {
  readonly reason: string
  /** Where it lies, if it is there. */
  readonly path?: string | undefined
  readonly isCurrent?: boolean
}

/** Every document is read. */
export const scanning = (target: Target, { isCurrent = true, path, reason }: Unusable): Way<ReadError> => {
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
    found: Stream.unwrap(Effect.map(located, (found) => foundAmong(target, scannedFiles(target, found)))),
    counted: isAlways(query.predicate) && after === undefined ? length : undefined
  }
}
