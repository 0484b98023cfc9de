import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HandlerFunction } from "./Handler.js"
import { monotonicMillis } from "./internal/monotonic.js"

export type LogLevel = "Trace" | "Debug" | "Information" | "Warning" | "Error"

/** One line about an execution. It holds nothing of the request. */
export interface LogEntry {
  readonly level: LogLevel
  readonly message: string
  readonly chain: string
  readonly phase: "start" | "success" | "failure" | "interruption"
  /** Absent on the start line. */
  readonly elapsedMillis?: number
  /** Only on the failure line. */
  readonly cause?: Cause.Cause<unknown>
}

export interface LoggingOptions {
  /** The chain's name in the lines; the builder's name when absent. */
  readonly name?: string
  /** The level of the lines about start and success; `Debug` when absent. Failures are `Error`. */
  readonly level?: LogLevel
}

/** Writes entries at once, without an Effect. What it throws is dropped. */
export interface SyncLogging extends LoggingOptions {
  readonly write: (entry: LogEntry) => void
}

/** Writes entries by an Effect. Its failures and defects are dropped. */
export interface EffectLogging<R> extends LoggingOptions {
  readonly log: (entry: LogEntry) => Effect.Effect<unknown, unknown, R>
}

/** @internal */
export interface LogOptions {
  readonly name: string
  readonly level: LogLevel
  readonly write: (entry: LogEntry) => void
}

/** The one-line text of an entry: `Information: Executing chain NAME.` */
export const format = (entry: LogEntry) => `${entry.level}: ${entry.message}`

/** @internal */
export const startEntry = ({ level, name }: Omit<LogOptions, "write">): LogEntry => ({
  level,
  message: `Executing chain ${name}.`,
  chain: name,
  phase: "start"
})

/** @internal */
export const endEntry = (
  { level, name }: Omit<LogOptions, "write">,
  elapsedMillis: number,
  exit: Exit.Exit<unknown, unknown>
): LogEntry => {
  const took = `${elapsedMillis.toFixed(3)} ms.`
  if (Exit.isSuccess(exit)) {
    return {
      level,
      message: `Executed chain ${name} in ${took}`,
      chain: name,
      phase: "success",
      elapsedMillis
    }
  }
  if (Cause.isInterruptedOnly(exit.cause)) {
    const message = `Chain ${name} was interrupted after ${took}`
    return { level, message, chain: name, phase: "interruption", elapsedMillis }
  }
  const message = `Chain ${name} failed after ${took}`
  return { level: "Error", message, chain: name, phase: "failure", elapsedMillis, cause: exit.cause }
}

const toEffectLog = {
  Trace: Effect.logTrace,
  Debug: Effect.logDebug,
  Information: Effect.logInfo,
  Warning: Effect.logWarning,
  Error: Effect.logError
} as const

/** Writes an entry with Effect's logger; the chain's name and duration are annotations. */
export const toLogger = (entry: LogEntry): Effect.Effect<void> =>
  Effect.annotateLogs(toEffectLog[entry.level](entry.message), {
    chain: entry.chain,
    ...(entry.elapsedMillis === undefined ? {} : { elapsedMillis: entry.elapsedMillis })
  })

/** @internal */
export const effectful =
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
