import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { type RecordStream, sourceError } from "./Records.js"
import type { EffectSqlConnection, PrepareConnection, QueryConnection } from "./SqlRows.js"

// Loaded when a query is read: a page that imports none does not carry it.
const reading = Effect.mapError(
  lazyModule(() => import("./SqlRows.js")),
  sourceError("fromSql")
)

export type { EffectSqlConnection, PrepareConnection, QueryConnection } from "./SqlRows.js"

/**
 * The rows of a query. Columns of the same name get different names (`id`, `id_2`) if the driver returns rows as
 * lists. Big results of PostgreSQL are better read through a cursor with `fromDbapi`.
 *
 * @example
 * ```ts
 * const records = fromSql(database, "select id as _id, name from people where city = $1", ["London"])
 * ```
 *
 * @since 0.1.0
 * @category importing
 */
export const fromSql = (
  connection: QueryConnection | PrepareConnection | EffectSqlConnection,
  query: string,
  parameters: ReadonlyArray<unknown> = []
): RecordStream => Stream.unwrap(Effect.map(reading, ({ rowsOf }) => rowsOf(connection, query, parameters)))
