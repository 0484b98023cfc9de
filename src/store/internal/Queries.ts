import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type { Json, JsonObject } from "../../domain/Document.js"
import type { Page } from "../../domain/Page.js"
import { type CheckedQuery, readQuery } from "../../domain/query/ReadQuery.js"
import { selectionOf } from "../../domain/query/Selection.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import type { OnInvalid, QueryExplanation } from "../Collection.js"
import type { Blob } from "../remote/GitRemote.js"
import { check } from "./Arguments.js"
import { answer, countOf, wayOf } from "./QueryAnswer.js"
import { cursorOf, type Place, placeIn } from "./QueryCursor.js"
import { distinctValues } from "./QueryDistinct.js"
import { type Found, placeOf, type Target } from "./QueryTarget.js"
import type { Way } from "./QueryWay.js"
import type { StoreCore } from "./StoreCore.js"

/** A collection, and how its files become what a caller sees. */
export interface Queried<A> {
  readonly core: StoreCore
  readonly collection: string
  readonly decode: (
    method: string,
    blobs: Iterable<Blob>,
    onInvalid: OnInvalid
  ) => Effect.Effect<ReadonlyArray<A>, ValidationError>
}

/** The documents of a page where nothing says how many. */
const pageSize = 100

interface Given {
  readonly query: CheckedQuery
  readonly after: Place | undefined
  readonly onInvalid: OnInvalid
}

const refused = (operation: string, collection: string, message: string, hint?: string) =>
  new ValidationError({ operation, collection, message, hint })

const isOnInvalid = (value: unknown): value is OnInvalid | undefined =>
  value === undefined || value === "fail" || value === "skip" || typeof value === "function"

/** Checks a query as somebody gave it. */
const readGiven = (
  method: string,
  collection: string,
  given: unknown
): Effect.Effect<Given, ValidationError> =>
  Effect.gen(function* () {
    const operation = `Collection.${method}`
    yield* check(operation, { collection })
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given)
    const { onInvalid, ...rest } = isObject ? (given as { readonly onInvalid?: unknown }) : {}
    if (!isOnInvalid(onInvalid)) {
      return yield* refused(operation, collection, 'onInvalid must be "fail", "skip" or a function')
    }
    const read = readQuery(isObject ? rest : given)
    if (Either.isLeft(read)) {
      const { hint, message, path, problem } = read.left
      return yield* new ValidationError({
        operation,
        collection,
        message,
        hint,
        issues: [{ path, message: problem }]
      })
    }
    const query = read.right
    const after = query.cursor === undefined ? undefined : placeIn(collection, query, query.cursor)
    if (query.cursor !== undefined && after === undefined) {
      return yield* refused(
        operation,
        collection,
        "the cursor is not one of this query, or it is damaged",
        "give the cursor of the page before with the same where and orderBy, or none for the first page"
      )
    }
    return { query, after, onInvalid: onInvalid ?? "fail" }
  })

const targetOf = (
  core: StoreCore,
  collection: string,
  { after, query }: Given,
  limit: number | undefined
): Target => ({
  core,
  collection,
  snapshot: core.snapshot(),
  query,
  after,
  limit,
  reads: { entries: 0, documents: 0 }
})

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
  return decode(
    method,
    found.flatMap(({ blob }) => (blob === undefined ? [] : [blob])),
    onInvalid
  )
}

/** A page of a query. */
export const page = <A>(
  queried: Queried<A>,
  given: unknown
): Effect.Effect<Page<A | JsonObject>, ReadError> =>
  Effect.gen(function* () {
    const { collection, core } = queried
    const read = yield* readGiven("query", collection, given)
    const limit = read.query.limit ?? pageSize
    const target = targetOf(core, collection, read, limit + 1)
    const found = Chunk.toReadonlyArray(yield* Stream.runCollect(answer(target, yield* wayOf(target))))
    const documents = found.slice(0, limit)
    const last = documents.at(-1)
    return {
      documents: yield* shown(queried, "query", read, documents),
      cursor:
        found.length > limit && last !== undefined
          ? cursorOf(collection, read.query, placeOf(read.query, last))
          : null
    }
  })

/** Every document of a query, of one commit. */
export const all = <A>(queried: Queried<A>, given: unknown): Stream.Stream<A | JsonObject, ReadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { collection, core } = queried
      const read = yield* readGiven("queryAll", collection, given)
      const target = targetOf(core, collection, read, read.query.limit)
      const found = answer(target, yield* wayOf(target))
      return Stream.mapChunksEffect(found, (chunk) =>
        Effect.map(shown(queried, "queryAll", read, Chunk.toReadonlyArray(chunk)), Chunk.unsafeFromArray)
      )
    })
  )

const sourceOf = ({ plan }: Way): QueryExplanation["source"] =>
  plan._tag === "Scan" ? "scan" : plan._tag === "Manifest" ? "manifest" : "index"

/** How a query is answered, and what a page of it reads. */
export const explain = <A>(
  queried: Queried<A>,
  given: unknown,
  { run = true }: { readonly run?: boolean | undefined } = {}
): Effect.Effect<QueryExplanation, ReadError> =>
  Effect.gen(function* () {
    const { collection, core } = queried
    const read = yield* readGiven("explainQuery", collection, given)
    const target = targetOf(core, collection, read, (read.query.limit ?? pageSize) + 1)
    const way = yield* wayOf(target)
    const estimated = yield* way.estimate
    if (run) yield* Stream.runForEach(answer(target, way), () => Effect.void)
    const { plan } = way
    return {
      source: sourceOf(way),
      reason: way.reason,
      index: way.path,
      ...(plan._tag === "Tree" ? { ranges: plan.spans.length, restricted: plan.restricted } : {}),
      ordered: way.isOrdered,
      current: way.isCurrent,
      estimated,
      read: { ...target.reads }
    }
  })

/** How many documents satisfy a condition. */
export const count = <A>(
  { collection, core }: Queried<A>,
  where: unknown
): Effect.Effect<number, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readGiven("countWhere", collection, { where, select: [] })
    const target = targetOf(core, collection, read, undefined)
    return yield* countOf(target, yield* wayOf(target))
  })

/** The different values of a field. */
export const distinct = <A>(
  { collection, core }: Queried<A>,
  path: unknown
): Effect.Effect<ReadonlyArray<Json>, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readGiven("distinct", collection, { select: [path] })
    return yield* distinctValues(targetOf(core, collection, read, undefined), read.query.select![0]!)
  })
