import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/Document.js"
import { parseObject } from "../../domain/JsonText.js"
import { matcherOf } from "../../domain/query/Matching.js"
import { idKey, sortKeys } from "../../domain/query/Ordering.js"
import { isAlways } from "../../domain/query/Predicate.js"
import type { CheckedQuery } from "../../domain/query/ReadQuery.js"
import { documentIn, mayBeSpelled, type SpelledObject } from "../../domain/SpelledJson.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { Blob } from "../remote/GitRemote.js"
import { filesById, idOf } from "./IndexedRead.js"
import type { Place } from "./QueryCursor.js"
import type { Keyed } from "./QuerySorting.js"
import type { Snapshot, StoreCore } from "./StoreCore.js"

/** A document that a query has found. */
export interface Found extends Keyed {
  readonly id: string
  /** As JavaScript reads it, with the `_id` of its file's name. */
  readonly document: JsonObject
  /** Its file; undefined where the document is what a manifest has of it. */
  readonly blob: Blob | undefined
}

/** How much a query has read. */
export interface Reads {
  entries: number
  documents: number
}

/** A query of a collection, at one snapshot. */
export interface Target {
  readonly core: StoreCore
  readonly collection: string
  readonly snapshot: Snapshot
  readonly query: CheckedQuery
  /** Documents behind this place only. */
  readonly after: Place | undefined
  /** How many documents are wanted, where that is known. */
  readonly limit: number | undefined
  readonly reads: Reads
}

/** Where a document stands in the order of a query. */
export const placeOf = ({ order }: CheckedQuery, { id, key }: Found): Place => ({
  key,
  fields: key.slice(0, key.length - idKey(id, order.ids).length)
})

/** A document in the two ways it is looked at: as JavaScript reads it, and with its numbers as they are spelled. */
export interface ReadDocument {
  readonly document: JsonObject
  readonly spelled: SpelledObject
}

const decoder = new TextDecoder()

/** The document of a file; a file that contains no JSON object counts as an empty document. */
export const readFile = (id: string, content: Uint8Array): ReadDocument => {
  const document: { [key: string]: Json } = Either.getOrElse(parseObject(content), () => ({}))
  const spelled = mayBeSpelled(decoder.decode(content)) ? documentIn(content) : document
  if (!Object.hasOwn(document, "_id") || document["_id"] !== id) document["_id"] = id
  return { document, spelled }
}

/** Tells which documents a query finds, and their keys. */
export const judgeOf = ({ after, query }: Target) => {
  const matches = matcherOf(query.predicate)
  const keyOf = sortKeys(query.order, query.predicate)
  return {
    matches,
    keyOf,
    isBehind: (key: string) => after === undefined || key > after.key,
    /** The document of a file, where the query finds it. */
    found: (id: string, blob: Blob): Found | undefined => {
      const { document, spelled } = readFile(id, blob.content)
      if (!matches(document)) return undefined
      const key = keyOf(spelled, id)
      return after === undefined || key > after.key ? { key, id, document, blob } : undefined
    }
  }
}

/** The documents among files that a query finds, in the order of the files. */
export const foundAmong = <E>(target: Target, files: Stream.Stream<Blob, E>): Stream.Stream<Found, E> =>
  Stream.suspend(() => {
    const judge = judgeOf(target)
    const slice = TimeSlice.make()
    return Stream.mapChunksEffect(files, (blobs) =>
      Effect.gen(function* () {
        const all: Array<Found> = []
        for (const blob of blobs) {
          if (slice.isSpent()) yield* slice.pause
          target.reads.documents++
          const found = judge.found(idOf(blob.path), blob)
          if (found !== undefined) all.push(found)
        }
        return Chunk.unsafeFromArray(all)
      })
    )
  })

/** The files of some documents by id, those that are there. */
export const filesOf = ({ collection, core, snapshot }: Target, ids: ReadonlyArray<string>) =>
  filesById(core, snapshot, collection, ids)

/** How many documents are read together at most. */
const mostTogether = 512

/** The fewest that are read together where some of them may not be found. */
const leastTogether = 20

/** How many documents a query reads together, so that it reads few beyond its limit; `sure`: it finds what it reads. */
export const groupOf = ({ limit, query }: Target, sure = isAlways(query.predicate)): number => {
  if (limit === undefined) return mostTogether
  return Math.min(mostTogether, Math.max(limit, sure ? 1 : leastTogether))
}
