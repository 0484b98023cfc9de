import * as Effect from "effect/Effect"
import type { HandlerFunction } from "./Handler.js"
import { endEntry, monotonicMillis, startEntry } from "./internal/ExecutionLog.js"
import type { LogEntry, LogLevel, LogOptions } from "./LogEntry.js"

export type { LogEntry, LogLevel } from "./LogEntry.js"

/**
 * Options of `useLogging`.
 *
 * @since 0.1.0
 * @category options
 */
export interface LoggingOptions {
  /** The chain's name in the entries. Default: the builder's name. */
  readonly name?: string
  /** The level of the entries of start and success. Default `Debug`. Failures have the level `Error`. */
  readonly level?: LogLevel
}

/**
 * Writes entries synchronously. Exceptions of `write` are ignored.
 *
 * @since 0.1.0
 * @category models
 */
export interface SyncLogging extends LoggingOptions {
  /** Called with each entry, in order. */
  readonly write: (entry: LogEntry) => void
}

/**
 * Writes entries by an Effect. Its failures and defects are ignored.
 *
 * @since 0.1.0
 * @category models
 */
export interface EffectLogging<R> extends LoggingOptions {
  /** Run with each entry, in order. */
  readonly log: (entry: LogEntry) => Effect.Effect<unknown, unknown, R>
}

/**
 * An entry as one line of text: `Information: Executing chain NAME.`
 *
 * @since 0.1.0
 * @category text
 */
export const format = (entry: LogEntry) => `${entry.level}: ${entry.message}`

const toEffectLog = {
  Trace: Effect.logTrace,
  Debug: Effect.logDebug,
  Information: Effect.logInfo,
  Warning: Effect.logWarning,
  Error: Effect.logError
} as const

/**
 * Writes an entry with Effect's logger. The chain's name and the duration are annotations.
 *
 * @since 0.1.0
 * @category constructors
 */
export const toLogger = (entry: LogEntry): Effect.Effect<void> =>
  Effect.annotateLogs(toEffectLog[entry.level](entry.message), {
    chain: entry.chain,
    ...(entry.elapsedMillis === undefined ? {} : { elapsedMillis: entry.elapsedMillis })
  })

/** @internal */
export const effectLogging =
  <R>(
    options: Omit<LogOptions, "write">,
    log: (entry: LogEntry) => Effect.Effect<unknown, unknown, R>
  ): HandlerFunction<any, any, Effect.Effect<any, any, R>> =>
  (request, next) => {
    const quietly = (entry: LogEntry) =>
      Effect.catchAllCause(
        Effect.suspend(() => log(entry)),
        () => Effect.void
      )
    return Effect.flatMap(quietly(startEntry(options)), () => {
      const started = monotonicMillis()
      return Effect.onExit(next(request), (exit) =>
        quietly(endEntry(options, monotonicMillis() - started, exit))
      )
    })
  }
