import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Page } from "../../../domain/document/Page.js"
import type { ReadError, ValidationError } from "../../../domain/errors/StoreError.js"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import { idKey } from "../../../domain/query/Ordering.js"
import { always } from "../../../domain/query/Predicate.js"
import type { CheckedQuery } from "../../../domain/query/ReadQuery.js"
import { selectionOf } from "../../../domain/query/Selection.js"
import type {
  ExplainedPage,
  Explanation,
  OnInvalid,
  QueryExplanation,
  ReadManyOptions
} from "../../Collection.js"
import type { Blob } from "../../remote/GitRemote.js"
import { takesRequests } from "../../remote/GitRemote.js"
import { check } from "../calls/Arguments.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { type Answered, answer, collected, countOf, wayOf } from "./QueryAnswer.js"
import { cursorOf } from "./QueryCursor.js"
import { distinctValues } from "./QueryDistinct.js"
import { type Given, readGiven } from "./QueryGiven.js"
import { type Found, type ParsedFile, placeOf, type Target } from "./QueryTarget.js"
import type { Way } from "./QueryWay.js"

/** A collection, and how its files become what a caller sees. */
export interface Queried<A> {
  readonly core: StoreCore
  readonly collection: string
  readonly decode: (
    method: string,
    files: Iterable<Blob & Partial<ParsedFile>>,
    onInvalid: OnInvalid
  ) => Effect.Effect<ReadonlyArray<A>, ValidationError>
}

/** The documents of a page where nothing says how many. */
const pageSize = 100

const targetOf = (
  core: StoreCore,
  collection: string,
  { after, query }: Pick<Given, "after" | "query">,
  given: Partial<Pick<Target, "limit" | "findsUnreadable" | "isPinned">> = {}
): Target => ({
  core,
  collection,
  snapshot: core.snapshot(),
  query,
  after,
  limit: undefined,
  findsUnreadable: false,
  isPinned: true,
  ...given,
  reads: { entries: 0, documents: 0 }
})

const filesIn = (found: ReadonlyArray<Found>): ReadonlyArray<ParsedFile> =>
  found.flatMap(({ file }) => (file === undefined ? [] : [file]))

/** What a caller sees of documents that were found. */
const shown = <A>(
  { decode }: Queried<A>,
  method: string,
  { onInvalid, query }: Given,
  found: ReadonlyArray<Found>
): Effect.Effect<ReadonlyArray<A | JsonObject>, ValidationError> => {
  if (query.select !== undefined) {
    const select = selectionOf(query.select)
    return Effect.succeed(found.map(({ document, id }) => select(document, id)))
  }
  return decode(method, filesIn(found), onInvalid)
}

/** The documents of a page, and one more where the query finds it. */
const pageFound = <A>(
  { collection, core }: Queried<A>,
  read: Given,
  limit: number
): Effect.Effect<Answered<ReadonlyArray<Found>>, ReadError> =>
  collected(
    () => targetOf(core, collection, read, { limit: limit + 1, isPinned: false }),
    (found) => Effect.map(Stream.runCollect(found), Chunk.toReadonlyArray)
  )

/** A page of a query. */
export const page = <A>(
  queried: Queried<A>,
  given: unknown
): Effect.Effect<Page<A | JsonObject> | ExplainedPage<A | JsonObject>, ReadError> =>
  Effect.gen(function* () {
    const { collection } = queried
    const read = yield* readGiven("query", collection, given)
    const limit = read.query.limit ?? pageSize
    const answered = yield* pageFound(queried, read, limit)
    const documents = answered.result.slice(0, limit)
    const last = documents.at(-1)
    const page = {
      documents: yield* shown(queried, "query", read, documents),
      cursor:
        answered.result.length > limit && last !== undefined
          ? cursorOf(collection, read.query, placeOf(read.query, last))
          : null
    }
    return read.explains ? { ...page, explanation: yield* explanationOf(answered) } : page
  })

/** Every document of a query, of one commit. */
export const all = <A>(queried: Queried<A>, given: unknown): Stream.Stream<A | JsonObject, ReadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { collection, core } = queried
      const read = yield* readGiven("queryAll", collection, given)
      const target = targetOf(core, collection, read, { limit: read.query.limit })
      const found = answer(target, yield* wayOf(target))
      return Stream.mapChunksEffect(found, (chunk) =>
        Effect.map(shown(queried, "queryAll", read, Chunk.toReadonlyArray(chunk)), Chunk.unsafeFromArray)
      )
    })
  )

const sourceOf = ({ plan }: Way): QueryExplanation["source"] =>
  plan._tag === "Scan" ? "scan" : plan._tag === "Manifest" ? "manifest" : "index"

const explanationOf = ({
  target,
  way
}: Pick<Answered<unknown>, "target" | "way">): Effect.Effect<QueryExplanation, ReadError> =>
  Effect.map(way.estimate, (estimated) => ({
    source: sourceOf(way),
    reason: way.reason,
    index: way.path,
    ...(way.plan._tag === "Tree" ? { ranges: way.plan.spans.length, restricted: way.plan.restricted } : {}),
    ordered: way.isOrdered,
    current: way.isCurrent,
    estimated,
    read: { ...target.reads }
  }))

/** How a query is answered, and what a page of it reads. */
export const explainQuery = <A>(
  queried: Queried<A>,
  given: unknown,
  { run = true }: { readonly run?: boolean | undefined } = {}
): Effect.Effect<QueryExplanation, ReadError> =>
  Effect.gen(function* () {
    const { collection, core } = queried
    const read = yield* readGiven("explainQuery", collection, given)
    if (run) return yield* explanationOf(yield* pageFound(queried, read, read.query.limit ?? pageSize))
    const target = targetOf(core, collection, read, { isPinned: false })
    return yield* explanationOf({ target, way: yield* wayOf(target) })
  })

/** The query for every document, in order of id. */
const everything: CheckedQuery = {
  predicate: always,
  order: { fields: [], ids: "asc" },
  limit: undefined,
  cursor: undefined,
  select: undefined
}

/** The query for the documents that have a value in a member, or a list that contains it there. */
const byMember = (path: string, value: Json, after?: string): Pick<Given, "after" | "query"> => ({
  query: {
    ...everything,
    predicate: { _tag: "Field", path, tests: [{ operator: "is", value }], whole: true }
  },
  after: after === undefined ? undefined : { key: idKey(after, "asc"), fields: "" }
})

/** The documents of a collection whose field equals a value, or is a list that contains it. */
export const findBy = <A>(
  { collection, core, decode }: Queried<A>,
  field: string,
  value: Json,
  { after, limit, onInvalid = "fail" }: ReadManyOptions = {}
): Effect.Effect<ReadonlyArray<A>, ReadError> =>
  Effect.gen(function* () {
    yield* check("Collection.findBy", { collection, field, value, limit, after })
    const asked = byMember(field, value, after)
    // Documents that are skipped do not count.
    const most = onInvalid === "fail" ? limit : undefined
    const { result } = yield* collected(
      () => targetOf(core, collection, asked, { limit: most, findsUnreadable: true, isPinned: false }),
      (found) => {
        const decoded = Stream.mapChunksEffect(found, (chunk) =>
          Effect.map(decode("findBy", filesIn([...chunk]), onInvalid), Chunk.unsafeFromArray)
        )
        return Stream.runCollect(limit === undefined ? decoded : Stream.take(decoded, limit))
      }
    )
    return Chunk.toReadonlyArray(result)
  })

/** How `findBy` would find its documents. */
export const explain = <A>(
  { collection, core }: Queried<A>,
  field: string,
  value: Json
): Effect.Effect<Explanation, ReadError> =>
  Effect.gen(function* () {
    yield* check("Collection.explain", { collection, field, value })
    const target = targetOf(core, collection, byMember(field, value), { isPinned: false })
    const way = yield* wayOf(target)
    const { isCurrent: current, path: index, reason } = way
    const isScan = way.plan._tag === "Scan"
    const source = isScan ? "scan" : "index"
    if (!takesRequests(core.remote)) return { source, reason, index, current, requests: 0 }
    const estimated = Effect.map(way.estimate, ({ documents }) => documents)
    const documents = yield* isScan || way.counted === undefined
      ? estimated
      : Effect.catchTag(way.counted, "IndexDisagrees", () => estimated)
    const look = isScan ? { _tag: "List" as const, entries: documents } : { _tag: "Lookup" as const }
    const reads = documents === 0 ? 0 : core.remote.estimate({ _tag: "Read", documents })
    return { source, reason, index, current, requests: core.remote.estimate(look) + reads }
  })

/** How many documents there are. */
export const size = <A>({ collection, core }: Queried<A>): Effect.Effect<number, ReadError> =>
  Effect.gen(function* () {
    yield* check("Collection.count", { collection })
    const query = { ...everything, select: [] }
    const target = targetOf(core, collection, { query, after: undefined })
    return yield* countOf(target, yield* wayOf(target))
  })

/** How many documents satisfy a condition. */
export const count = <A>(
  { collection, core }: Queried<A>,
  where: unknown
): Effect.Effect<number, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readGiven("countWhere", collection, { where, select: [] })
    const target = targetOf(core, collection, read)
    return yield* countOf(target, yield* wayOf(target))
  })

/** The different values of a field. */
export const distinct = <A>(
  { collection, core }: Queried<A>,
  path: unknown
): Effect.Effect<ReadonlyArray<Json>, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readGiven("distinct", collection, { select: [path] })
    return yield* distinctValues(targetOf(core, collection, read), read.query.select![0]!)
  })
