import {
  Cause,
  FiberId,
  FiberRef,
  FiberRefs,
  HashMap,
  Inspectable,
  List,
  LogLevel,
  type Runtime
} from "effect"

/** One finished request, as the access log takes it: a line for people, fields for machines. */
export class AccessEntry {
  constructor(
    readonly requestId: string,
    readonly method: string,
    readonly path: string,
    readonly status: number,
    readonly durationMs: number,
    readonly bytes: number,
    readonly remote: string
  ) {}

  toString(): string {
    return `${this.method} ${this.path} ${this.status} ${this.durationMs.toFixed(3)} ms ${this.bytes} B ${this.requestId}`
  }

  toJSON(): unknown {
    return {
      requestId: this.requestId,
      method: this.method,
      path: this.path,
      status: this.status,
      durationMs: Math.round(this.durationMs * 1000) / 1000,
      bytes: this.bytes,
      remote: this.remote
    }
  }

  [Inspectable.NodeInspectSymbol](): string {
    return this.toString()
  }
}

/**
 * Hands finished requests to the loggers of a runtime, as `Effect.logInfo` would, without a fiber per line.
 * Nothing is handed on below the minimum level, and a failing logger fails no request.
 */
export const make = (runtime: Runtime.Runtime<never>): ((entry: AccessEntry) => void) => {
  const level = LogLevel.Info
  const refs = runtime.fiberRefs
  const loggers = Array.from(FiberRefs.getOrDefault(refs, FiberRef.currentLoggers))
  const minimum = FiberRefs.getOrDefault(refs, FiberRef.currentMinimumLogLevel)
  if (loggers.length === 0 || LogLevel.lessThan(level, minimum)) return () => {}
  const annotations = HashMap.empty<string, unknown>()
  const spans = List.empty<never>()
  return (entry) => {
    const options = {
      fiberId: FiberId.none,
      logLevel: level,
      message: [entry],
      cause: Cause.empty,
      context: refs,
      spans,
      annotations,
      date: new Date()
    }
    try {
      for (const logger of loggers) logger.log(options)
    } catch {
      return
    }
  }
}
