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
import type { FetchCursor } from "./CursorRows.js"
import { keepingError } from "./KeptError.js"
import { type RecordStream, sourceError } from "./Records.js"

export type { FetchCursor } from "./CursorRows.js"

/**
 * How the rows of a cursor are read.
 *
 * @since 0.1.0
 * @category options
 */
export interface DbapiOptions {
  /** Rows asked for at a time. Default 500. */
  readonly fetchSize?: number | undefined
  /** Names of the columns, when rows are lists. */
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

// Loaded when a cursor is read: a page that imports none does not carry it.
const reading = Effect.mapError(
  lazyModule(() => import("./CursorRows.js")),
  sourceError("fromDbapi")
)

/**
 * The rows of a database cursor, or of anything that can be iterated, `fetchSize` at a time in constant memory. The
 * cursor is closed at the end, after a failure, and on interruption.
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
  const kept = keepingError(cursor)
  return Stream.unwrap(Effect.map(reading, ({ cursorRecords }) => cursorRecords(kept, given.right)))
}
