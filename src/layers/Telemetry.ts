import { FetchHttpClient } from "@effect/platform"
import { Layer } from "effect"
import * as LineLogger from "../http/server/LineLogger.js"
import { Otlp } from "../vendor/OpenTelemetry.js"
import type { Settings } from "./Settings.js"
import { version } from "./Version.js"

/**
 * Logs to standard output (formatted on a terminal, JSON lines otherwise). Exports to an OTLP collector if one is set.
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
