import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

/** Writes what the store logs to standard error. */
export const toStandardError = Logger.replace(
  Logger.defaultLogger,
  Logger.withConsoleError(Logger.stringLogger)
)

/** The same for a layer that has not chosen a logger of its own. */
export const withLogs = <A, E>(layer: Layer.Layer<A, E>): Layer.Layer<A, E> =>
  Layer.provideMerge(
    Layer.unwrapEffect(
      Effect.map(FiberRef.get(FiberRef.currentLoggers), (loggers) =>
        HashSet.has(loggers, Logger.defaultLogger) ? toStandardError : Layer.empty
      )
    ),
    layer
  )
