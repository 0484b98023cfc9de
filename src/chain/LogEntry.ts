import type * as Cause from "effect/Cause"

/**
 * The level of a log entry, with the names of .NET's logging.
 *
 * @since 0.1.0
 * @category models
 */
export type LogLevel = "Trace" | "Debug" | "Information" | "Warning" | "Error"

/**
 * One log entry of an execution. It never contains the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface LogEntry {
  /** The severity. */
  readonly level: LogLevel
  /** The text, without the level. */
  readonly message: string
  /** The name of the chain. */
  readonly chain: string
  /** The event of the execution. */
  readonly phase: "start" | "success" | "failure" | "interruption"
  /** The duration in milliseconds; absent in the entry of the start. */
  readonly elapsedMillis?: number
  /** The cause; present only in the entry of a failure. */
  readonly cause?: Cause.Cause<unknown>
}

/** @internal */
export interface LogOptions {
  readonly name: string
  readonly level: LogLevel
  readonly write: (entry: LogEntry) => void
}
