import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { lazyModule } from "../../domain/runtime/LazyModule.js"
import { type RecordStream, sourceError } from "./RecordSource.js"
import type { EffectSqlConnection, PrepareConnection, QueryConnection } from "./SqlRecords.js"

// Loaded on the first use, to keep pages small.
const reading = Effect.mapError(
  lazyModule(() => import("./SqlRecords.js")),
  sourceError("fromSql")
)

export type { EffectSqlConnection, PrepareConnection, QueryConnection } from "./SqlRecords.js"

/**
 * The rows of a query. If the driver returns rows as lists, columns of the same name get different names (`id`,
 * `id_2`). For large results of PostgreSQL, use a cursor with `fromDbapi`.
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
): RecordStream =>
  Stream.unwrap(Effect.map(reading, ({ sqlRecords: rowsOf }) => rowsOf(connection, query, parameters)))
