import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { collect } from "../../../domain/concurrency/Streams.js"
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
import { checkArguments } from "../calls/Arguments.js"
import type { StoreCore } from "../commit/StoreCore.js"
import { distinctValues } from "./DistinctValues.js"
import { encodeCursor } from "./QueryCursor.js"
import type { QueryExecution } from "./QueryExecution.js"
import { type QueryRequest, readQueryRequest } from "./QueryRequest.js"
import { type Match, type ParsedFile, positionOf, type QueryTarget } from "./QueryTarget.js"
import { collectQuery, countMatches, executionOf, type QueryRun, runQuery } from "./RunQuery.js"

/** A collection, and how its files become the caller's documents. */
export interface QueriedCollection<A> {
  readonly core: StoreCore
  readonly collection: string
  readonly decode: (
    method: string,
    files: Iterable<Blob & Partial<ParsedFile>>,
    onInvalid: OnInvalid
  ) => Effect.Effect<ReadonlyArray<A>, ValidationError>
}

/** The default number of documents in a page. */
const pageSize = 100

const targetOf = (
  core: StoreCore,
  collection: string,
  { after, query }: Pick<QueryRequest, "after" | "query">,
  given: Partial<Pick<QueryTarget, "limit" | "findsUnreadable" | "isPinned">> = {}
): QueryTarget => ({
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

const filesIn = (found: ReadonlyArray<Match>): ReadonlyArray<ParsedFile> =>
  found.flatMap(({ file }) => (file === undefined ? [] : [file]))

/** The documents of matches as the caller receives them. */
const present = <A>(
  { decode }: QueriedCollection<A>,
  method: string,
  { onInvalid, query }: QueryRequest,
  found: ReadonlyArray<Match>
): Effect.Effect<ReadonlyArray<A | JsonObject>, ValidationError> => {
  if (query.select !== undefined) {
    const select = selectionOf(query.select)
    return Effect.succeed(found.map(({ document, id }) => select(document, id)))
  }
  return decode(method, filesIn(found), onInvalid)
}

/** The matches of a page, and one more if there is one. */
const pageFound = <A>(
  { collection, core }: QueriedCollection<A>,
  read: QueryRequest,
  limit: number
): Effect.Effect<QueryRun<ReadonlyArray<Match>>, ReadError> =>
  collectQuery(() => targetOf(core, collection, read, { limit: limit + 1, isPinned: false }), collect)

/** A page of a query. */
export const page = <A>(
  queried: QueriedCollection<A>,
  given: unknown
): Effect.Effect<Page<A | JsonObject> | ExplainedPage<A | JsonObject>, ReadError> =>
  Effect.gen(function* () {
    const { collection } = queried
    const read = yield* readQueryRequest("query", collection, given)
    const limit = read.query.limit ?? pageSize
    const answered = yield* pageFound(queried, read, limit)
    const documents = answered.result.slice(0, limit)
    const last = documents.at(-1)
    const page = {
      documents: yield* present(queried, "query", read, documents),
      cursor:
        answered.result.length > limit && last !== undefined
          ? encodeCursor(collection, read.query, positionOf(read.query, last))
          : null
    }
    return read.explains ? { ...page, explanation: yield* explanationOf(answered) } : page
  })

/** All matches of a query, at one commit. */
export const all = <A>(
  queried: QueriedCollection<A>,
  given: unknown
): Stream.Stream<A | JsonObject, ReadError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { collection, core } = queried
      const read = yield* readQueryRequest("queryAll", collection, given)
      const target = targetOf(core, collection, read, { limit: read.query.limit })
      const found = runQuery(target, yield* executionOf(target))
      return Stream.mapChunksEffect(found, (chunk) =>
        Effect.map(present(queried, "queryAll", read, Chunk.toReadonlyArray(chunk)), Chunk.unsafeFromArray)
      )
    })
  )

const sourceOf = ({ plan }: QueryExecution): QueryExplanation["source"] =>
  plan._tag === "Scan" ? "scan" : plan._tag === "Manifest" ? "manifest" : "index"

const explanationOf = ({
  target,
  execution
}: Pick<QueryRun<unknown>, "target" | "execution">): Effect.Effect<QueryExplanation, ReadError> =>
  Effect.map(execution.estimate, (estimated) => ({
    source: sourceOf(execution),
    reason: execution.reason,
    index: execution.path,
    ...(execution.plan._tag === "Tree"
      ? { ranges: execution.plan.spans.length, restricted: execution.plan.restricted }
      : {}),
    ordered: execution.isOrdered,
    current: execution.isCurrent,
    estimated,
    read: { ...target.reads }
  }))

/** How a query is executed, and what a page of it reads. */
export const explainQuery = <A>(
  queried: QueriedCollection<A>,
  given: unknown,
  { run = true }: { readonly run?: boolean | undefined } = {}
): Effect.Effect<QueryExplanation, ReadError> =>
  Effect.gen(function* () {
    const { collection, core } = queried
    const read = yield* readQueryRequest("explainQuery", collection, given)
    if (run) return yield* explanationOf(yield* pageFound(queried, read, read.query.limit ?? pageSize))
    const target = targetOf(core, collection, read, { isPinned: false })
    return yield* explanationOf({ target, execution: yield* executionOf(target) })
  })

/** The query for all documents, in order of id. */
const everything: CheckedQuery = {
  predicate: always,
  order: { fields: [], ids: "asc" },
  limit: undefined,
  cursor: undefined,
  select: undefined
}

/** The query for documents in which a member equals a value, or is a list that contains it. */
const byMember = (path: string, value: Json, after?: string): Pick<QueryRequest, "after" | "query"> => ({
  query: {
    ...everything,
    predicate: { _tag: "Field", path, tests: [{ operator: "is", value }], whole: true }
  },
  after: after === undefined ? undefined : { key: idKey(after, "asc"), fields: "" }
})

/** The documents in which a field equals a value, or is a list that contains it. */
export const findBy = <A>(
  { collection, core, decode }: QueriedCollection<A>,
  field: string,
  value: Json,
  { after, limit, onInvalid = "fail" }: ReadManyOptions = {}
): Effect.Effect<ReadonlyArray<A>, ReadError> =>
  Effect.gen(function* () {
    yield* checkArguments("Collection.findBy", { collection, field, value, limit, after })
    const asked = byMember(field, value, after)
    // Skipped documents do not count toward the limit.
    const most = onInvalid === "fail" ? limit : undefined
    const { result } = yield* collectQuery(
      () => targetOf(core, collection, asked, { limit: most, findsUnreadable: true, isPinned: false }),
      (found) => {
        const decoded = Stream.mapChunksEffect(found, (chunk) =>
          Effect.map(decode("findBy", filesIn([...chunk]), onInvalid), Chunk.unsafeFromArray)
        )
        return collect(limit === undefined ? decoded : Stream.take(decoded, limit))
      }
    )
    return result
  })

/** How `findBy` would find its documents. */
export const explain = <A>(
  { collection, core }: QueriedCollection<A>,
  field: string,
  value: Json
): Effect.Effect<Explanation, ReadError> =>
  Effect.gen(function* () {
    yield* checkArguments("Collection.explain", { collection, field, value })
    const target = targetOf(core, collection, byMember(field, value), { isPinned: false })
    const execution = yield* executionOf(target)
    const { isCurrent: current, path: index, reason } = execution
    const isScan = execution.plan._tag === "Scan"
    const source = isScan ? "scan" : "index"
    if (!takesRequests(core.remote)) return { source, reason, index, current, requests: 0 }
    const estimated = Effect.map(execution.estimate, ({ documents }) => documents)
    const documents = yield* isScan || execution.count === undefined
      ? estimated
      : Effect.catchTag(execution.count, "IndexMismatch", () => estimated)
    const look = isScan ? { _tag: "List" as const, entries: documents } : { _tag: "Lookup" as const }
    const reads = documents === 0 ? 0 : core.remote.estimate({ _tag: "Read", documents })
    return { source, reason, index, current, requests: core.remote.estimate(look) + reads }
  })

/** The number of documents. */
export const countAll = <A>({ collection, core }: QueriedCollection<A>): Effect.Effect<number, ReadError> =>
  Effect.gen(function* () {
    yield* checkArguments("Collection.count", { collection })
    const query = { ...everything, select: [] }
    const target = targetOf(core, collection, { query, after: undefined })
    return yield* countMatches(target, yield* executionOf(target))
  })

/** The number of documents that satisfy a condition. */
export const count = <A>(
  { collection, core }: QueriedCollection<A>,
  where: unknown
): Effect.Effect<number, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readQueryRequest("countWhere", collection, { where, select: [] })
    const target = targetOf(core, collection, read)
    return yield* countMatches(target, yield* executionOf(target))
  })

/** The distinct values of a field. */
export const distinct = <A>(
  { collection, core }: QueriedCollection<A>,
  path: unknown
): Effect.Effect<ReadonlyArray<Json>, ReadError> =>
  Effect.gen(function* () {
    const read = yield* readQueryRequest("distinct", collection, { select: [path] })
    return yield* distinctValues(targetOf(core, collection, read), read.query.select![0]!)
  })
