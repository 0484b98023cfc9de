import { FetchHttpClient } from "@effect/platform"
import { Layer } from "effect"
import * as LineLogger from "../http/server/LineLogger.js"
import { Otlp } from "../vendor/OpenTelemetry.js"
import type { Settings } from "./Settings.js"
import { version } from "./Version.js"

/**
 * The log on standard output (pretty on a terminal, JSON lines otherwise) and, where a collector is named, OTLP export.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Settings): Layer.Layer<never> =>
  settings.otlpUrl === undefined
    ? LineLogger.layerAuto
    : Layer.merge(
        LineLogger.layerAuto,
        Otlp.layerJson({
          baseUrl: settings.otlpUrl,
          resource: { serviceName: settings.serviceName, serviceVersion: version },
          shutdownTimeout: "3 seconds"
        }).pipe(Layer.provide(FetchHttpClient.layer))
      )
