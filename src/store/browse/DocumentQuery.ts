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

/** What a collection is asked. */
interface QueryRequest {
  readonly where?: AnyWhere | undefined
  readonly orderBy?: CollectionQuery["orderBy"] | undefined
  readonly select?: ReadonlyArray<string>
}

/** Documents that an index has found are sorted where they are not more than this. */
const mostSorted = 1_000

const orderOf = (sorts: ReadonlyArray<Sort>): QueryRequest["orderBy"] =>
  sorts.length > 0 && sorts.every(({ path }) => isMemberName(path))
    ? sorts.map(({ descending, path }) => ({ field: path, order: descending ? "desc" : "asc" }))
    : undefined

/** Whether the whole collection's order costs little more than what is shown of it. */
const isOrderCheap = ({ estimated, ordered, source }: QueryExplanation): boolean =>
  source === "manifest" || (source === "index" && (ordered || estimated.documents <= mostSorted))

/** Begins the cursor of a page whose way was chosen by a plan. No id and no cursor of a collection begins so. */
const plannedCursorPrefix = "plan:"

/** Queries of documents, by the store's indexes and manifests where they fit. */
export const documentQueries = (
  remote: GitRemoteService,
  viewAt: (at: string | undefined) => Effect.Effect<StoreView, ReadError>
) => {
  const requestsOf = (documents: number) =>
    documents === 0 ? 0 : remote.estimate({ _tag: "Read", documents })

  /** The requests that some documents take, where the query does not allow them. */
  const costOf = ({ maxRequests }: Query, documents: Effect.Effect<number, ReadError>) =>
    maxRequests === undefined || requestsOf(1) === 0
      ? Effect.succeed(undefined)
      : Effect.map(documents, (count) =>
          requestsOf(count) > maxRequests ? { requests: requestsOf(count) } : undefined
        )

  return Effect.fn("Browse.documents")(function* (
    query: Query,
    /** The fields of a manifest of format 2, where rows of them are enough. */
    projected: Effect.Effect<ReadonlyArray<string>, ReadError>
  ) {
    const { filters, limit } = query
    const sorts = sortsOf(query)
    const isFree = query.where !== undefined || query.orderBy !== undefined
    // The plan may be another one for the next page: it goes on in the order of the first.
    const isChosen = !isFree && query.cursor?.startsWith(plannedCursorPrefix) === true
    const cursor = (isChosen ? query.cursor?.slice(plannedCursorPrefix.length) : query.cursor) ?? null
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

    const plan = (asked: QueryRequest) => collection.explainQuery({ limit, ...asked }, { run: false })

    /** What a page reads: where it comes in order and all of it is found, no more than it shows. */
    const documentsOf = ({ estimated, ordered, source }: QueryExplanation) =>
      source === "index" && ordered ? Math.min(estimated.documents, limit + 3) : estimated.documents

    /** The plan and the page by one call. */
    const ask = (asked: QueryRequest, more: Pick<QueryAnswer, "sorted"> = {}, known?: QueryExplanation) =>
      Effect.gen(function* () {
        const planned = known === undefined ? plan(asked) : Effect.succeed(known)
        const cost = yield* costOf(query, Effect.map(planned, documentsOf))
        if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
        const page = yield* collection.query({ limit, cursor, ...asked, onInvalid, explain: true })
        const { read, reason, source } = page.explanation
        return answerOf(page.documents, page.cursor, { source, reason, read, ...more })
      })

    /** Documents by the order of their ids, with filters that are looked at one document after the other. */
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

    /** A page by a plan, and the next ones in the same order. */
    const askChosen = (asked: QueryRequest, known: QueryExplanation) =>
      Effect.map(ask(asked, { sorted: sorts.length > 0 }, known), (answer) => ({
        ...answer,
        cursor: answer.cursor === null ? null : `${plannedCursorPrefix}${answer.cursor}`
      }))

    if (isFree) {
      const { orderBy, where } = query
      return yield* ask({ where, orderBy })
    }
    const { rest, where } = splitFilters(filters)
    const orderBy = orderOf(sorts)
    if (rest.length === 0) {
      const mayChoose = cursor === null || isChosen
      const fields = mayChoose ? yield* projected : []
      if (fields.length > 0) {
        const select = [...fields]
        const known = yield* plan({ where, orderBy, select })
        if (known.source === "manifest") {
          const answer = yield* askChosen({ where, orderBy, select }, known)
          const total = filters.length === 0 ? { total: yield* collection.count } : {}
          const manifest = { current: true, fields, missing: [], extra: [] }
          return answerOf(answer.documents, answer.cursor, { ...answer, ...total, manifest })
        }
      }
      const known =
        isChosen || (mayChoose && orderBy !== undefined) ? yield* plan({ where, orderBy }) : undefined
      if (known !== undefined && (isChosen || isOrderCheap(known))) {
        return yield* askChosen({ where, orderBy }, known)
      }
      if (where !== undefined) return yield* ask({ where })
      const after = cursor ?? undefined
      const cost = yield* costOf(
        query,
        Effect.map(collection.list({ after, limit: limit + 1 }), ({ length }) => length)
      )
      if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
      const page = yield* collection.page({ limit, after, onInvalid })
      const read = { entries: 0, documents: page.documents.length }
      return answerOf(page.documents, page.cursor, { source: "scan", read })
    }
    const after = cursor ?? undefined
    const known = where === undefined ? undefined : yield* plan({ where })
    const isIndexed = known !== undefined && known.source === "index"
    const count = isIndexed
      ? Effect.succeed(known.estimated.documents)
      : Effect.map(collection.list({ after }), ({ length }) => length)
    const cost = yield* costOf(query, count)
    if (cost !== undefined) return answerOf([], null, { source: "scan", cost })
    if (!isIndexed) return yield* filtered(collection.all({ after, onInvalid }), filters, { source: "scan" })
    const behind = after === undefined ? [] : [{ _id: { greaterThan: after } }]
    const found = collection.queryAll({ where: { and: [where!, ...behind] }, onInvalid })
    return yield* filtered(found, rest, { source: "index", reason: known.reason })
  })
}
