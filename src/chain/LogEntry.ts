import type * as Cause from "effect/Cause"

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

/** @internal */
export interface LogOptions {
  readonly name: string
  readonly level: LogLevel
  readonly write: (entry: LogEntry) => void
}
