import type * as Cause from "effect/Cause"

/**
 * The level of a line, named as .NET's logging does.
 *
 * @since 0.1.0
 * @category models
 */
export type LogLevel = "Trace" | "Debug" | "Information" | "Warning" | "Error"

/**
 * One line about an execution. It holds nothing of the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface LogEntry {
  /** How grave it is. */
  readonly level: LogLevel
  /** The line, without its level. */
  readonly message: string
  /** The name of the chain. */
  readonly chain: string
  /** Which part of an execution it tells of. */
  readonly phase: "start" | "success" | "failure" | "interruption"
  /** Absent on the start line. */
  readonly elapsedMillis?: number
  /** Only on the failure line. */
  readonly cause?: Cause.Cause<unknown>
}

/** @internal */
export interface LogOptions {
  readonly name: string
  readonly level: LogLevel
  readonly write: (entry: LogEntry) => void
}
