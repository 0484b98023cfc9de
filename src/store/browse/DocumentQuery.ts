import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TimeSlice from "../../domain/concurrency/TimeSlice.js"
import type { JsonObject } from "../../domain/json/Json.js"
import type { AnyWhere, Query as CollectionQuery } from "../../domain/query/Query.js"
import type { CollectionReader, QueryExplanation, ReadError } from "../Collection.js"
import type { GitRemoteService } from "../remote/GitRemote.js"
import type { StoreView } from "../View.js"
import type { Query, QueryAnswer, Sort } from "./BrowseQuery.js"
import { columnsOf } from "./DocumentColumns.js"
import type { Filter } from "./Filter.js"
import { isMemberName, splitFilters } from "./FilterConditions.js"
import { makeFilterMatcher } from "./FilterMatcher.js"
import { sortsOf } from "./QuerySorts.js"

/** The parts of a query of the collection. */
interface QueryRequest {
  readonly where?: AnyWhere | undefined
  readonly orderBy?: CollectionQuery["orderBy"] | undefined
  readonly select?: ReadonlyArray<string>
}

/** The largest number of documents found by an index that are sorted in memory. */
const mostSorted = 1_000

const orderOf = (sorts: ReadonlyArray<Sort>): QueryRequest["orderBy"] =>
  sorts.length > 0 && sorts.every(({ path }) => isMemberName(path))
    ? sorts.map(({ descending, path }) => ({ field: path, order: descending ? "desc" : "asc" }))
    : undefined

/** Whether sorting the whole collection costs little more than reading one page. */
const isOrderCheap = ({ estimated, ordered, source }: QueryExplanation): boolean =>
  source === "manifest" || (source === "index" && (ordered || estimated.documents <= mostSorted))

/** Prefix of the cursors of planned queries. No document id and no cursor of a collection begins with it. */
const plannedCursorPrefix = "plan:"

/** Queries of documents that use indexes and manifests if possible. */
export const documentQueries = (
  remote: GitRemoteService,
  viewAt: (at: string | undefined) => Effect.Effect<StoreView, ReadError>
) => {
  const requestsOf = (documents: number) =>
    documents === 0 ? 0 : remote.estimate({ _tag: "Read", documents })

  /** The cost of reading the documents, if it exceeds the maximum of the query. */
  const costOf = ({ maxRequests }: Query, documents: Effect.Effect<number, ReadError>) =>
    maxRequests === undefined || requestsOf(1) === 0
      ? Effect.succeed(undefined)
      : Effect.map(documents, (count) =>
          requestsOf(count) > maxRequests ? { requests: requestsOf(count) } : undefined
        )

  return Effect.fn("Browse.documents")(function* (
    query: Query,
    /** The fields of a manifest of format 2, if its rows are sufficient. */
    projected: Effect.Effect<ReadonlyArray<string>, ReadError>
  ) {
    const { costOfAll = false, filters, limit } = query
    const sorts = sortsOf(query)
    const isFree = query.where !== undefined || query.orderBy !== undefined
    // The plan could change between pages, so the prefix of the cursor keeps the order of the first page.
    const isPlanned = !isFree && query.cursor?.startsWith(plannedCursorPrefix) === true
    const cursor = (isPlanned ? query.cursor?.slice(plannedCursorPrefix.length) : query.cursor) ?? null
    const collection: CollectionReader = (yield* viewAt(query.at)).collection(query.collection)
    const unreadable: Array<string> = []
    const onInvalid = (id: string) => Effect.sync(() => void unreadable.push(id))
    const answerOf = (
      documents: ReadonlyArray<JsonObject>,
      cursor: string | null,
      more: Pick<QueryAnswer, "source" | "reason" | "read" | "sorted" | "manifest" | "total" | "cost">
    ): QueryAnswer => ({
      collection: query.collection,
      documents,
      columns: columnsOf(
        more.manifest === undefined
          ? documents
          : [Object.fromEntries(more.manifest.fields.map((field) => [field, null])), ...documents]
      ),
      cursor,
      ...more,
      ...(unreadable.length === 0 ? {} : { unreadable })
    })

    const plan = (request: QueryRequest) => collection.explainQuery({ limit, ...request }, { run: false })

    /** The number of documents that a page reads. An index in the requested order reads only those that are shown. */
    const documentsOf = ({ estimated, ordered, source }: QueryExplanation) =>
      source === "index" && ordered && !costOfAll
        ? Math.min(estimated.documents, limit + 3)
        : estimated.documents

    /** Runs a query and returns its page with the plan. */
    const run = (request: QueryRequest, more: Pick<QueryAnswer, "sorted"> = {}, known?: QueryExplanation) =>
      Effect.gen(function* () {
        const planned = known === undefined ? plan(request) : Effect.succeed(known)
        const cost = yield* costOf(query, Effect.map(planned, documentsOf))
        if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
        const page = yield* collection.query({ limit, cursor, ...request, onInvalid, explain: true })
        const { read, reason, source } = page.explanation
        return answerOf(page.documents, page.cursor, { source, reason, read, ...more })
      })

    /** Documents in the order of their ids, filtered one after the other. */
    const filtered = (
      found: Stream.Stream<JsonObject, ReadError>,
      rest: ReadonlyArray<Filter>,
      more: Pick<QueryAnswer, "source" | "reason">
    ) => {
      const read = { entries: 0, documents: 0 }
      return Effect.map(
        found.pipe(
          Stream.map((document) => {
            read.documents++
            return document
          }),
          Stream.filterEffect(makeFilterMatcher(rest, TimeSlice.make())),
          Stream.take(limit + 1),
          Stream.runCollect
        ),
        (chunk) => {
          const [all, documents] = [[...chunk], [...chunk].slice(0, limit)]
          const last = documents.at(-1)?.["_id"]
          return answerOf(documents, all.length > limit ? String(last) : null, { ...more, read })
        }
      )
    }

    /** Runs a planned query. Its cursor continues in the same order. */
    const runPlanned = (request: QueryRequest, known: QueryExplanation) =>
      Effect.map(run(request, { sorted: sorts.length > 0 }, known), (answer) => ({
        ...answer,
        cursor: answer.cursor === null ? null : `${plannedCursorPrefix}${answer.cursor}`
      }))

    if (isFree) {
      const { orderBy, where } = query
      return yield* run({ where, orderBy })
    }
    const { rest, where } = splitFilters(filters)
    const orderBy = orderOf(sorts)
    if (rest.length === 0) {
      const mayPlan = cursor === null || isPlanned
      const fields = mayPlan ? yield* projected : []
      if (fields.length > 0) {
        const select = [...fields]
        const planned = yield* plan({ where, orderBy, select })
        if (planned.source === "manifest") {
          const answer = yield* runPlanned({ where, orderBy, select }, planned)
          const total = filters.length === 0 ? { total: yield* collection.count } : {}
          const manifest = { current: true, fields, missing: [], extra: [] }
          return answerOf(answer.documents, answer.cursor, { ...answer, ...total, manifest })
        }
      }
      const planned =
        isPlanned || (mayPlan && orderBy !== undefined) ? yield* plan({ where, orderBy }) : undefined
      if (planned !== undefined && (isPlanned || isOrderCheap(planned))) {
        return yield* runPlanned({ where, orderBy }, planned)
      }
      if (where !== undefined) return yield* run({ where })
      const after = cursor ?? undefined
      const cost = yield* costOf(
        query,
        Effect.map(
          collection.list(costOfAll ? { after } : { after, limit: limit + 1 }),
          ({ length }) => length
        )
      )
      if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
      const page = yield* collection.page({ limit, after, onInvalid })
      const read = { entries: 0, documents: page.documents.length }
      return answerOf(page.documents, page.cursor, { source: "scan", read })
    }
    const after = cursor ?? undefined
    const planning = where === undefined ? undefined : yield* plan({ where })
    const isIndexed = planning !== undefined && planning.source === "index"
    const count = isIndexed
      ? Effect.succeed(planning.estimated.documents)
      : Effect.map(collection.list({ after }), ({ length }) => length)
    const cost = yield* costOf(query, count)
    if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
    if (!isIndexed) return yield* filtered(collection.all({ after, onInvalid }), filters, { source: "scan" })
    const behind = after === undefined ? [] : [{ _id: { greaterThan: after } }]
    const found = collection.queryAll({ where: { and: [where!, ...behind] }, onInvalid })
    return yield* filtered(found, rest, { source: "index", reason: planning.reason })
  })
}
