import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"

const standardError = Logger.withConsoleError(Logger.stringLogger)

/** Writes log messages to standard error. */
export const layerStandardError = Logger.replace(Logger.defaultLogger, standardError)

/** Logs to standard error while the layer is built and used, unless the layer sets its own logger. */
export const withDefaultLogger = <A, E>(layer: Layer.Layer<A, E>): Layer.Layer<A, E> => {
  const unlessChosen = Layer.unwrapEffect(
    Effect.map(FiberRef.get(FiberRef.currentLoggers), (loggers) =>
      HashSet.size(HashSet.remove(loggers, Logger.tracerLogger)) > 1
        ? Logger.remove(standardError)
        : Layer.empty
    )
  )
  return Layer.provideMerge(unlessChosen, Layer.provideMerge(layer, layerStandardError))
}
