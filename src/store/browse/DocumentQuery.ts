import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { JsonObject, StoredDocument } from "../../domain/Document.js"
import * as TimeSlice from "../../domain/TimeSlice.js"
import type { ReadError } from "../Collection.js"
import type { GitRemoteService } from "../remote/GitRemote.js"
import type { StoreView } from "../View.js"
import { columnsOf } from "./Columns.js"
import { type Filter, matcherOf } from "./Filter.js"
import type { Query, QueryAnswer, QueryCost } from "./Query.js"

/** Whether documents satisfy every filter; yields to other fibers between filters that take long. */
export const matching = (filters: ReadonlyArray<Filter>, slice: TimeSlice.TimeSlice) => {
  const matchers = filters.map(matcherOf)
  const from = (document: JsonObject, first: number): Effect.Effect<boolean> => {
    for (let at = first; at < matchers.length; at++) {
      if (slice.isSpent()) return Effect.flatMap(slice.pause, () => from(document, at))
      if (!matchers[at]!(document)) return Effect.succeed(false)
    }
    return Effect.succeed(true)
  }
  return (document: JsonObject) => from(document, 0)
}

/** Queries that read whole documents, by an index or by a scan. */
export const documentQueries = (
  remote: GitRemoteService,
  viewAt: (at: string | undefined) => Effect.Effect<StoreView, ReadError>
) => {
  const requestsOf = (documents: number) => remote.estimate({ _tag: "Read", documents })

  const costBeyond = ({ maxRequests }: Query, requests: number): QueryCost | undefined =>
    maxRequests !== undefined && requests > maxRequests ? { requests } : undefined

  /** The cost of reading these documents, if the query does not allow it. */
  const costOf = (query: Query, ids: Effect.Effect<ReadonlyArray<string>, ReadError>) =>
    query.maxRequests === undefined || requestsOf(1) === 0
      ? Effect.succeed(undefined)
      : Effect.map(ids, ({ length }) => costBeyond(query, requestsOf(length)))

  return Effect.fn("Browse.documents")(function* (query: Query) {
    const view = yield* viewAt(query.at)
    const collection = view.collection(query.collection)
    const after = query.cursor ?? undefined
    const unreadable: Array<string> = []
    const onInvalid = (id: string) => Effect.sync(() => void unreadable.push(id))
    const answer = (
      documents: ReadonlyArray<JsonObject>,
      cursor: string | null,
      source: "index" | "scan"
    ): QueryAnswer => ({
      collection: query.collection,
      documents,
      columns: columnsOf(documents),
      cursor,
      source,
      ...(unreadable.length === 0 ? {} : { unreadable })
    })
    const refused = (cost: QueryCost): QueryAnswer => ({ ...answer([], null, "scan"), cost })
    if (query.filters.length === 0) {
      const cost = yield* costOf(query, collection.list({ after, limit: query.limit + 1 }))
      if (cost !== undefined) return refused(cost)
      const page = yield* collection.page({ limit: query.limit, after, onInvalid })
      return answer(page.documents, page.cursor, "scan")
    }
    const cut = (found: ReadonlyArray<StoredDocument>, source: "index" | "scan") => {
      const documents = found.slice(0, query.limit)
      return answer(
        documents,
        found.length > query.limit ? (documents[documents.length - 1]?._id ?? null) : null,
        source
      )
    }
    const exact = query.filters.filter(
      ({ operator, path }) => operator === "is" && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(path)
    )
    for (const filter of exact) {
      const value = filter.value ?? null
      const explanation = yield* collection.explain(filter.path, value)
      if (explanation.source !== "index") continue
      const rest = query.filters.filter((one) => one !== filter)
      const all = explanation.requests
      const cost = costBeyond(query, rest.length === 0 ? Math.min(all, requestsOf(query.limit + 3)) : all)
      if (cost !== undefined) return refused(cost)
      const candidates = yield* collection.findBy(filter.path, value, {
        after,
        onInvalid,
        limit: rest.length === 0 ? query.limit + 1 : undefined
      })
      return cut(yield* Effect.filter(candidates, matching(rest, TimeSlice.make())), "index")
    }
    const cost = yield* costOf(query, collection.list({ after }))
    if (cost !== undefined) return refused(cost)
    const found = yield* collection
      .all({ after, onInvalid })
      .pipe(
        Stream.filterEffect(matching(query.filters, TimeSlice.make())),
        Stream.take(query.limit + 1),
        Stream.runCollect
      )
    return cut([...found], "scan")
  })
}
