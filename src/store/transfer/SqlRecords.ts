import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { ValidationError } from "../../domain/errors/StoreError.js"
import { rowRecord, uniqueColumns } from "./ColumnNames.js"
import { fromDbapi } from "./FromDbapi.js"
import { type ImportRecord, type RecordStream, sourceError } from "./RecordSource.js"

type Parameters = ReadonlyArray<unknown>

/**
 * A PostgreSQL client: a client or pool of `pg`, PGlite, or another client with that interface. The whole result is in
 * memory.
 *
 * @since 0.1.0
 * @category models
 */
export interface QueryConnection {
  /** Runs a statement with parameters, and resolves to a result with `rows`. */
  readonly query: (...args: Array<any>) => Promise<any>
}

/**
 * A SQLite database: better-sqlite3, libsql or node:sqlite. Rows are read one by one.
 *
 * @since 0.1.0
 * @category models
 */
export interface PrepareConnection {
  /** Prepares a statement, whose rows can be iterated. */
  readonly prepare: (sql: string) => any
}

/**
 * Effect's `SqlClient`.
 *
 * @since 0.1.0
 * @category models
 */
export interface EffectSqlConnection {
  /** Prepares a statement with parameters, whose rows can be read as a stream. */
  readonly unsafe: (
    sql: string,
    parameters?: ReadonlyArray<any>
  ) => {
    readonly stream: Stream.Stream<unknown, unknown>
    readonly withoutTransform: Effect.Effect<ReadonlyArray<unknown>, unknown>
  }
}

/** The rows of a query, read by the interface of its connection. */
export const sqlRecords = (
  connection: QueryConnection | PrepareConnection | EffectSqlConnection,
  query: string,
  parameters: Parameters
): RecordStream => {
  if (typeof connection === "function" || "unsafe" in connection) {
    return fromEffectSql(connection as EffectSqlConnection, query, parameters)
  }
  if ("prepare" in connection) return fromPrepared(connection, query, parameters)
  if ("query" in connection) return fromQuery(connection, query, parameters)
  return unknownConnection
}

const unknownConnection: RecordStream = Stream.suspend(() =>
  Stream.fail(
    new ValidationError({
      operation: "fromSql",
      message: "fromSql does not know this kind of connection",
      hint: "pass a pg client or pool, PGlite, better-sqlite3, libsql, node:sqlite, or Effect's SqlClient; use fromDbapi for a cursor or for rows"
    })
  )
)

/** Some of Effect's SQL drivers do not implement streams and die. Their result is read as a whole. */
const fromEffectSql = (connection: EffectSqlConnection, sql: string, parameters: Parameters): RecordStream =>
  Stream.suspend(() => {
    const statement = connection.unsafe(sql, parameters)
    if (!("stream" in statement)) return unknownConnection
    let hasRows = false
    return statement.stream.pipe(
      Stream.tap(() =>
        Effect.sync(() => {
          hasRows = true
        })
      ),
      Stream.catchSomeCause((cause) =>
        Cause.isDieType(cause) && !hasRows
          ? Option.some(Stream.fromIterableEffect(statement.withoutTransform))
          : Option.none()
      ),
      Stream.map((row) => row as ImportRecord),
      Stream.mapError(sourceError("fromSql"))
    )
  })

interface QueryResult {
  readonly rows: ReadonlyArray<unknown>
  readonly fields?: ReadonlyArray<{ readonly name: string }>
}

const fromQuery = (connection: QueryConnection, sql: string, parameters: Parameters): RecordStream =>
  Stream.unwrap(
    Effect.map(
      Effect.tryPromise({
        try: (): Promise<QueryResult> =>
          "execProtocol" in connection
            ? connection.query(sql, parameters, { rowMode: "array" })
            : connection.query({ text: sql, values: parameters, rowMode: "array" }),
        catch: sourceError("fromSql")
      }),
      (result) => fromRows(result)
    )
  )

const fromRows = (result: QueryResult): RecordStream => {
  if (result.fields === undefined) {
    return Stream.fail(
      new ValidationError({
        operation: "fromSql",
        message: "the query has no result to import",
        hint: "use a SELECT, or add RETURNING"
      })
    )
  }
  const columns = uniqueColumns(result.fields.map((field) => field.name))
  return Stream.mapEffect(Stream.fromIterable(result.rows), (row) =>
    Effect.try({
      try: () => (Array.isArray(row) ? rowRecord("fromSql", columns, row) : (row as ImportRecord)),
      catch: sourceError("fromSql")
    })
  )
}

interface Statement {
  readonly iterate: (...parameters: Parameters) => Iterable<unknown>
  readonly columns?: () => ReadonlyArray<{ readonly name: string }>
  readonly raw?: (on: boolean) => Statement
  readonly setReturnArrays?: (on: boolean) => void
  readonly safeIntegers?: (on: boolean) => unknown
  readonly setReadBigInts?: (on: boolean) => unknown
}

const fromPrepared = (connection: PrepareConnection, sql: string, parameters: Parameters): RecordStream =>
  Stream.unwrap(
    Effect.try({
      try: () => {
        const statement: Statement = connection.prepare(sql)
        // Otherwise integers beyond 2^53 would be rounded.
        statement.safeIntegers?.(true)
        statement.setReadBigInts?.(true)
        const columns = selectArrays(statement)
          ? statement.columns?.().map((column) => column.name)
          : undefined
        return fromDbapi(statement.iterate(...parameters), { columns })
      },
      catch: sourceError("fromSql")
    })
  )

/** Selects rows as lists if the driver can name their columns. Returns whether it did. */
const selectArrays = (statement: Statement) => {
  if (statement.columns === undefined) return false
  if (statement.setReturnArrays !== undefined) {
    statement.setReturnArrays(true)
    return true
  }
  if (statement.raw !== undefined) {
    statement.raw(true)
    return true
  }
  return false
}
