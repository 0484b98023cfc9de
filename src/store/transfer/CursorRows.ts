import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { type ImportRecord, type RecordStream, rowRecord, sourceError, uniqueColumns } from "./Records.js"

/**
 * A cursor that hands out so many rows at a time: `pg-cursor`'s `read`, or `fetchMany`. No rows means the end.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchCursor {
  /** Reads the next rows, as `pg-cursor` does; no rows mean the end. */
  readonly read?: (count: number) => Promise<ReadonlyArray<unknown>>
  /** Reads the next rows; no rows mean the end. */
  readonly fetchMany?: (count: number) => Promise<ReadonlyArray<unknown>> | ReadonlyArray<unknown>
  /** Called once, at the end, after a failure and on interruption. */
  readonly close?: () => unknown
}

interface Known {
  readonly fetchSize: number
  readonly columns?: ReadonlyArray<string | null> | undefined
}

/** The records of a cursor, with options that were checked. */
export const cursorRecords = (
  cursor: FetchCursor | AsyncIterable<unknown> | Iterable<unknown>,
  { columns: named, fetchSize }: Known
): RecordStream => {
  const columns = named === undefined ? undefined : uniqueColumns(named)
  return Stream.mapEffect(rows(cursor, fetchSize), (row) =>
    Effect.try({ try: () => asRecord(row, columns), catch: sourceError("fromDbapi") })
  )
}

const asRecord = (row: unknown, columns: ReadonlyArray<string> | undefined): ImportRecord => {
  if (!Array.isArray(row)) return row as ImportRecord
  if (columns !== undefined) return rowRecord("fromDbapi", columns, row)
  throw new ValidationError({
    operation: "fromDbapi",
    message: "the cursor hands out rows as lists and the names of their columns are not known",
    hint: "pass { columns: [...] }"
  })
}

const rows = (
  cursor: FetchCursor | AsyncIterable<unknown> | Iterable<unknown>,
  fetchSize: number
): Stream.Stream<unknown, ReturnType<ReturnType<typeof sourceError>>> => {
  if (Symbol.asyncIterator in cursor) return fromAsyncIterable(cursor, sourceError("fromDbapi"))
  if (Symbol.iterator in cursor) return fromAsyncIterable(eachOf(cursor), sourceError("fromDbapi"))
  const fetch = cursor.read?.bind(cursor) ?? cursor.fetchMany?.bind(cursor)
  if (fetch === undefined) {
    return Stream.fail(
      new ValidationError({
        operation: "fromDbapi",
        message: "this is no cursor: it has neither read nor fetchMany, and it cannot be iterated"
      })
    )
  }
  const next = Effect.tryPromise({ try: async () => fetch(fetchSize), catch: sourceError("fromDbapi") })
  return Stream.repeatEffectChunkOption(
    Effect.flatMap(Effect.mapError(next, Option.some), (chunk) =>
      chunk.length === 0 ? Effect.fail(Option.none()) : Effect.succeed(Chunk.unsafeFromArray([...chunk]))
    )
  ).pipe(
    Stream.ensuring(
      inDaemonFiber(
        Effect.tryPromise(async () => cursor.close?.()).pipe(Effect.timeout("5 seconds"), Effect.ignoreLogged)
      )
    )
  )
}

async function* eachOf(rows: Iterable<unknown>) {
  yield* rows
}
