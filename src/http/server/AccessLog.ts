import { Cause, FiberId, FiberRef, FiberRefs, HashMap, List, LogLevel, type Runtime } from "effect"
import type { AccessEntry } from "./AccessEntry.js"

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
