import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { ValidationError } from "../../../domain/errors/StoreError.js"
import { type CheckedQuery, readQuery } from "../../../domain/query/ReadQuery.js"
import type { OnInvalid } from "../../Collection.js"
import { checkArguments } from "../calls/Arguments.js"
import { type CursorPosition, decodeCursor } from "./QueryCursor.js"

/** A checked query, with the options that collection methods add to it. */
export interface QueryRequest {
  readonly query: CheckedQuery
  readonly after: CursorPosition | undefined
  readonly onInvalid: OnInvalid
  readonly explains: boolean
}

const invalid = (operation: string, collection: string, message: string, hint?: string) =>
  new ValidationError({ operation, collection, message, hint })

const isOnInvalid = (value: unknown): value is OnInvalid | undefined =>
  value === undefined || value === "fail" || value === "skip" || typeof value === "function"

/** Checks a query that a caller gave. */
export const readQueryRequest = (
  method: string,
  collection: string,
  given: unknown
): Effect.Effect<QueryRequest, ValidationError> =>
  Effect.gen(function* () {
    const operation = `Collection.${method}`
    yield* checkArguments(operation, { collection })
    const isObject = typeof given === "object" && given !== null && !Array.isArray(given)
    const { explain, onInvalid, ...rest } = isObject
      ? (given as { readonly explain?: unknown; readonly onInvalid?: unknown })
      : {}
    if (explain !== undefined && typeof explain !== "boolean") {
      return yield* invalid(operation, collection, "explain must be true or false")
    }
    if (!isOnInvalid(onInvalid)) {
      return yield* invalid(operation, collection, 'onInvalid must be "fail", "skip" or a function')
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
    const after = query.cursor === undefined ? undefined : decodeCursor(collection, query, query.cursor)
    if (query.cursor !== undefined && after === undefined) {
      return yield* invalid(
        operation,
        collection,
        "the cursor is not one of this query, or it is damaged",
        "give the cursor of the previous page with the same where and orderBy, or none for the first page"
      )
    }
    return { query, after, onInvalid: onInvalid ?? "fail", explains: explain === true }
  })
