import type { HttpServerError } from "@effect/platform"
import { Duration, Effect, Layer } from "effect"
import { PlaygroundGroup } from "../http/playground/Api.js"
import * as Docs from "../http/playground/Docs.js"
import * as PlaygroundHandlers from "../http/playground/Handlers.js"
import * as Playground from "../http/playground/Playground.js"
import * as Direct from "../http/server/Direct.js"
import * as Operational from "../http/server/Operational.js"
import * as Server from "../http/server/Server.js"
import * as Manifest from "./Manifest.js"
import type { Settings } from "./Settings.js"

/** How the service's server behaves under these settings. */
export const serverOptions = (settings: Settings): Server.ServerOptions => ({
  listen: [{ port: settings.port, host: settings.bind }],
  publicUrl: settings.publicUrl,
  limits: { maxBytes: settings.bodyLimit, timeoutMillis: Duration.toMillis(settings.bodyTimeout) },
  handlerTimeout: settings.requestTimeout,
  headersTimeout: settings.headersTimeout,
  idleTimeout: settings.idleTimeout,
  drain: { grace: settings.drainGrace, timeout: settings.drainTimeout }
})

/** Every group that the service answers, in the order in which paths are tried. */
const groups = (settings: Settings) =>
  Effect.gen(function* () {
    const playground = yield* PlaygroundHandlers.handlers(PlaygroundHandlers.originOf(settings.publicUrl))
    return {
      operations: Direct.operations(PlaygroundGroup, playground),
      mounts: [yield* Operational.mount, yield* Docs.mount]
    }
  })

/** The parts that the service is made of, each of which another layer may replace. */
export const partsLayer = (_settings: Settings): Layer.Layer<Playground.Playground> =>
  Playground.layer(Manifest.own)

/** The server over given parts. */
export const layerWith = (
  settings: Settings
): Layer.Layer<Server.Server, HttpServerError.ServeError, Playground.Playground> =>
  Server.layer(serverOptions(settings), groups(settings))

/** The whole service. */
export const layer = (settings: Settings): Layer.Layer<Server.Server, HttpServerError.ServeError> =>
  layerWith(settings).pipe(Layer.provide(partsLayer(settings)))
