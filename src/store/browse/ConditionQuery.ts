import * as Effect from "effect/Effect"
import type { JsonObject } from "../../domain/Document.js"
import { type ReadError, ValidationError } from "../../domain/StoreError.js"
import type { GitRemoteService } from "../remote/GitRemote.js"
import type { StoreView } from "../View.js"
import { columnsOf } from "./Columns.js"
import type { Query, QueryAnswer } from "./Query.js"

const answerOf = (
  { collection }: Query,
  documents: ReadonlyArray<JsonObject>,
  cursor: string | null,
  source: QueryAnswer["source"]
): QueryAnswer => ({ collection, documents, columns: columnsOf(documents), cursor, source })

/** Queries by a condition and an order, as a collection answers them. */
export const conditionQueries = (
  remote: GitRemoteService,
  viewAt: (at: string | undefined) => Effect.Effect<StoreView, ReadError>
) =>
  Effect.fn("Browse.conditions")(function* (query: Query) {
    const { cursor, filters, limit, maxRequests, orderBy, sort, where } = query
    if (filters.length > 0 || sort !== undefined) {
      return yield* new ValidationError({
        operation: "Browse.query",
        message: "where and orderBy cannot be used with field, filters and sort",
        hint: "write the filters into where"
      })
    }
    const collection = (yield* viewAt(query.at)).collection(query.collection)
    const asked = { limit, cursor, where, orderBy }
    const { estimated, source } = yield* collection.explainQuery(asked, { run: false })
    const requests =
      estimated.documents === 0 ? 0 : remote.estimate({ _tag: "Read", documents: estimated.documents })
    if (maxRequests !== undefined && requests > maxRequests) {
      return { ...answerOf(query, [], null, source), cost: { requests } }
    }
    const unreadable: Array<string> = []
    const onInvalid = (id: string) => Effect.sync(() => void unreadable.push(id))
    const page = yield* collection.query({ ...asked, onInvalid })
    const answer = answerOf(query, page.documents, page.cursor, source)
    return unreadable.length === 0 ? answer : { ...answer, unreadable }
  })
