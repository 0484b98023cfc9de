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

/**
 * One finished request in the access log. It prints as one line of text, or as a JSON object.
 *
 * @since 0.1.0
 * @category models
 */
export class AccessEntry {
  constructor(
    /** The request id, which the reply also carries in `x-request-id`. */
    readonly requestId: string,
    /** The method of the request. */
    readonly method: string,
    /** The path without the query. */
    readonly path: string,
    /** The status of the reply. */
    readonly status: number,
    /** Milliseconds from the head of the request to the end of the reply. */
    readonly durationMs: number,
    /** Bytes of the reply's body. */
    readonly bytes: number,
    /** The address of the client. */
    readonly remote: string
  ) {}

  /** The entry as one line of text. */
  toString(): string {
    return `${this.method} ${this.path} ${this.status} ${this.durationMs.toFixed(3)} ms ${this.bytes} B ${this.requestId}`
  }

  /** The entry as a plain object. */
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
 * Passes finished requests to the loggers of a runtime, as `Effect.logInfo` does, but without a fiber per line.
 * Entries below the minimum log level are skipped. A logger that throws does not fail the request.
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
