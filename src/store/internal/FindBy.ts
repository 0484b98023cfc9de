import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { Json } from "../../domain/Document.js"
import { fieldMatches } from "../../domain/IndexKey.js"
import { parseObject } from "../../domain/JsonText.js"
import type { ReadError } from "../../domain/StoreError.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { Explanation, ReadManyOptions } from "../Collection.js"
import { type Blob, takesRequests } from "../remote/GitRemote.js"
import { check } from "./Arguments.js"
import { documentFiles } from "./DocumentFiles.js"
import { indexedFiles } from "./IndexedRead.js"
import { slice } from "./Listing.js"
import { lookup } from "./Lookup.js"
import type { Queried } from "./Queries.js"

/** How often an index is looked into while the branch moves; then the documents of one commit are scanned. */
const attempts = 3

const matching = (field: string, value: Json, blobs: Iterable<Blob>) =>
  Effect.gen(function* () {
    const found: Array<Blob> = []
    const slice = TimeSlice.make()
    for (const blob of blobs) {
      if (slice.isSpent()) yield* slice.pause
      const document = parseObject(blob.content)
      if (Either.isLeft(document)) found.push(blob)
      else if (Object.hasOwn(document.right, field) && fieldMatches(document.right[field], value))
        found.push(blob)
    }
    return found
  })

const limited = <B, E>(stream: Stream.Stream<B, E>, limit: number | undefined) =>
  limit === undefined ? stream : Stream.take(stream, limit)

/** The documents of a collection whose field equals a value, or is a list that contains it. */
export const findBy = <A>(
  { collection, core, decode }: Queried<A>,
  field: string,
  value: Json,
  options: ReadManyOptions = {}
): Effect.Effect<ReadonlyArray<A>, ReadError> =>
  Effect.gen(function* () {
    const { after, limit, onInvalid = "fail" } = options
    yield* check("Collection.findBy", { collection, field, value, limit, after })
    /** The documents among files whose field matches: files that hold no document count as unfit ones. */
    const decodeMatching = (blobs: Iterable<Blob>) =>
      Effect.map(
        Effect.flatMap(matching(field, value, blobs), (found) => decode("findBy", found, onInvalid)),
        Chunk.unsafeFromArray
      )
    for (let attempt = 0; attempt < attempts; attempt++) {
      const snapshot = core.snapshot()
      const how = yield* lookup(core, snapshot, collection, field, value)
      if (how._tag === "Scan") break
      const found = Stream.mapChunksEffect(
        indexedFiles(core, snapshot, collection, how, after),
        decodeMatching
      )
      const all = yield* Stream.runCollect(limited(found, limit)).pipe(
        Effect.asSome,
        Effect.catchTag("IndexDisagrees", () => Effect.succeedNone)
      )
      if (Option.isSome(all)) return Chunk.toReadonlyArray(all.value)
      if (snapshot.isPinned()) break
    }
    const located = yield* core.listing(core.snapshot(), collection)
    const listing = slice(located.listing, undefined, after)
    const scanned = Stream.mapChunksEffect(
      documentFiles(core, collection, { ...located, listing }),
      decodeMatching
    )
    return Chunk.toReadonlyArray(yield* Stream.runCollect(limited(scanned, limit)))
  })

/** How `findBy` would find its documents. */
export const explain = <A>(
  { collection, core }: Queried<A>,
  field: string,
  value: Json
): Effect.Effect<Explanation, ReadError> =>
  Effect.gen(function* () {
    yield* check("Collection.explain", { collection, field, value })
    const snapshot = core.snapshot()
    const how = yield* lookup(core, snapshot, collection, field, value)
    const { current, index, reason } = how
    const cost = (documents: number) =>
      documents === 0 ? 0 : core.remote.estimate({ _tag: "Read", documents })
    if (how._tag === "Index") {
      const reads = core.remote.estimate({ _tag: "Lookup" })
      return { source: "index", reason, index, current, requests: reads + cost(how.ids.length) }
    }
    if (!takesRequests(core.remote)) return { source: "scan", reason, index, current, requests: 0 }
    const { listing } = yield* core.listing(snapshot, collection)
    const entries = listing.length
    const requests = core.remote.estimate({ _tag: "List", entries }) + cost(entries)
    return { source: "scan", reason, index, current, requests }
  })
