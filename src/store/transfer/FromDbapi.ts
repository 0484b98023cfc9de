import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import {
  type FieldsOf,
  optional,
  optionsReader,
  valueKind,
  wholeNumber,
  withDefault
} from "../../domain/options/Options.js"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import type { FetchCursor } from "./CursorRecords.js"
import { withErrorListener } from "./NodeStreamErrors.js"
import { type RecordStream, sourceError } from "./RecordSource.js"

export type { FetchCursor } from "./CursorRecords.js"

/**
 * Options of `fromDbapi`.
 *
 * @since 0.1.0
 * @category options
 */
export interface DbapiOptions {
  /** The number of rows of each fetch. Default 500. */
  readonly fetchSize?: number | undefined
  /** The names of the columns, if rows are lists. */
  readonly columns?: ReadonlyArray<string | null> | undefined
}

const read = optionsReader(
  Schema.Struct({
    fetchSize: withDefault(wholeNumber(1), 500),
    columns: optional(
      valueKind<ReadonlyArray<string | null>>(
        "a list of strings",
        (value) => Array.isArray(value) && value.every((one) => one === null || typeof one === "string")
      )
    )
  } satisfies FieldsOf<DbapiOptions>)
)

// Loaded on the first use, to keep pages small.
const reading = Effect.mapError(
  lazyModule(() => import("./CursorRecords.js")),
  sourceError("fromDbapi")
)

/**
 * The rows of a database cursor or of an iterable, in constant memory, `fetchSize` rows at a time. The cursor is closed
 * at the end, after a failure, and on interruption.
 *
 * @example
 * ```ts
 * const records = fromDbapi(client.query(new Cursor("select id as _id, name from people")), { fetchSize: 500 })
 * ```
 *
 * @since 0.1.0
 * @category importing
 */
export const fromDbapi = (
  cursor: FetchCursor | AsyncIterable<unknown> | Iterable<unknown>,
  options: DbapiOptions = {}
): RecordStream => {
  const given = read("fromDbapi", options)
  if (Either.isLeft(given)) return Stream.fail(given.left)
  const kept = withErrorListener(cursor)
  return Stream.unwrap(Effect.map(reading, ({ cursorRecords }) => cursorRecords(kept, given.right)))
}
