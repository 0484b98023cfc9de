import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { inDaemonFiber } from "../../domain/concurrency/DaemonFiber.js"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { rowRecord, uniqueColumns } from "./ColumnNames.js"
import { fromAsyncIterable } from "./FromAsyncIterable.js"
import { type ImportRecord, type RecordStream, sourceError } from "./RecordSource.js"

/**
 * A cursor that returns a given number of rows at a time: `read` of `pg-cursor`, or `fetchMany`. No rows mean the end.
 *
 * @since 0.1.0
 * @category models
 */
export interface FetchCursor {
  /** Reads the next rows, as in `pg-cursor`. No rows mean the end. */
  readonly read?: (count: number) => Promise<ReadonlyArray<unknown>>
  /** Reads the next rows. No rows mean the end. */
  readonly fetchMany?: (count: number) => Promise<ReadonlyArray<unknown>> | ReadonlyArray<unknown>
  /** Called once: at the end, after a failure, or on interruption. */
  readonly close?: () => unknown
}

interface CursorSettings {
  readonly fetchSize: number
  readonly columns?: ReadonlyArray<string | null> | undefined
}

/** The records of a cursor. The options are validated already. */
export const cursorRecords = (
  cursor: FetchCursor | AsyncIterable<unknown> | Iterable<unknown>,
  { columns: named, fetchSize }: CursorSettings
): RecordStream => {
  const columns = named === undefined ? undefined : uniqueColumns(named)
  return Stream.mapEffect(rows(cursor, fetchSize), (row) =>
    Effect.try({ try: () => recordOf(row, columns), catch: sourceError("fromDbapi") })
  )
}

const recordOf = (row: unknown, columns: ReadonlyArray<string> | undefined): ImportRecord => {
  if (!Array.isArray(row)) return row as ImportRecord
  if (columns !== undefined) return rowRecord("fromDbapi", columns, row)
  throw new ValidationError({
    operation: "fromDbapi",
    message: "the cursor returns rows as lists, and the names of the columns are unknown",
    hint: "pass { columns: [...] }"
  })
}

const rows = (
  cursor: FetchCursor | AsyncIterable<unknown> | Iterable<unknown>,
  fetchSize: number
): Stream.Stream<unknown, ReturnType<ReturnType<typeof sourceError>>> => {
  if (Symbol.asyncIterator in cursor) return fromAsyncIterable(cursor, sourceError("fromDbapi"))
  if (Symbol.iterator in cursor) return fromAsyncIterable(toAsyncIterable(cursor), sourceError("fromDbapi"))
  const fetch = cursor.read?.bind(cursor) ?? cursor.fetchMany?.bind(cursor)
  if (fetch === undefined) {
    return Stream.fail(
      new ValidationError({
        operation: "fromDbapi",
        message: "this is not a cursor: it has neither read nor fetchMany, and it cannot be iterated"
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

async function* toAsyncIterable(rows: Iterable<unknown>) {
  yield* rows
}
