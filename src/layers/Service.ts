import { Duration, Effect, Layer } from "effect"
import * as ConsoleMounts from "../http/console/ConsoleMounts.js"
import { Sessions } from "../http/console/Sessions.js"
import * as HostMounts from "../http/host/HostMounts.js"
import { PlaygroundGroup } from "../http/playground/Api.js"
import * as Docs from "../http/playground/Docs.js"
import * as PlaygroundHandlers from "../http/playground/Handlers.js"
import * as Playground from "../http/playground/Playground.js"
import * as Reference from "../http/reference/ReferenceMount.js"
import * as Direct from "../http/server/Direct.js"
import type { Mount } from "../http/server/Mount.js"
import * as Operational from "../http/server/Operational.js"
import * as Server from "../http/server/Server.js"
import { apisOf } from "./ConsoleApis.js"
import * as ConsoleStores from "./ConsoleStores.js"
import * as EmbeddedHost from "./EmbeddedHost.js"
import * as Manifest from "./PackageManifest.js"
import type { Settings } from "./Settings.js"

/**
 * The options of the server for these settings.
 *
 * @since 0.1.0
 * @category running
 */
export const serverOptions = (settings: Settings): Server.ServerOptions => ({
  listen: [{ port: settings.port, host: settings.bind }],
  publicUrl: settings.publicUrl,
  limits: { maxBytes: settings.bodyLimit, timeoutMillis: Duration.toMillis(settings.bodyTimeout) },
  handlerTimeout: settings.requestTimeout,
  headersTimeout: settings.headersTimeout,
  idleTimeout: settings.idleTimeout,
  drain: { grace: settings.drainGrace, timeout: settings.drainTimeout }
})

const playground = (settings: Settings, docs: Effect.Effect<Mount> = Docs.mount) =>
  Effect.gen(function* () {
    const handlers = yield* PlaygroundHandlers.handlers(PlaygroundHandlers.originOf(settings.publicUrl))
    return {
      operations: Direct.operations(PlaygroundGroup, handlers),
      mounts: [yield* Operational.mount, yield* docs]
    }
  })

/** The other pages of the service, for the documentation page of the playground's API. */
const pages = [
  {
    href: "/",
    text: "Console",
    about: "Browse, query and edit the documents of a repository."
  },
  {
    href: "/playground",
    text: "Chain playground",
    about: "Compose a chain and see which steps a request passes."
  },
  {
    href: "/api/v3",
    text: "Host",
    about:
      "A GitHub-compatible server: REST at <code>/api/v3</code>, GraphQL at <code>/api/graphql</code>, <code>git clone</code> at <code>/OWNER/REPOSITORY.git</code>."
  },
  {
    href: "/docs/api/",
    text: "Reference of the libraries",
    about: "Every public function and type, with examples."
  }
]

/** All operations and mounts of the service. Mounts are tried in this order. */
const groups = (settings: Settings) =>
  Effect.gen(function* () {
    const { mounts, operations } = yield* playground(settings, Docs.mountBeside(pages))
    return {
      operations,
      mounts: [
        yield* Reference.mount,
        ...mounts,
        ...(yield* ConsoleMounts.mounts({ publicUrl: settings.publicUrl })),
        ...(yield* HostMounts.mounts({ atRoot: false }))
      ]
    }
  })

/**
 * The chain playground alone. Requires a `Playground`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerPlayground = (settings: Settings) =>
  Server.layer(serverOptions(settings), playground(settings))

const consoleLayer = (settings: Settings) =>
  Layer.merge(
    ConsoleStores.layer({
      bind: settings.bind,
      apis: apisOf(settings.apiUrl, settings.rawUrl)
    }),
    Sessions.Default()
  )

/**
 * The services that the whole service requires. Another layer can replace each of them.
 *
 * @since 0.1.0
 * @category running
 */
export const partsLayer = (settings: Settings) =>
  Layer.merge(Playground.layer(Manifest.ownPackage), consoleLayer(settings)).pipe(
    Layer.provideMerge(EmbeddedHost.layer(settings, { atRoot: false }))
  )

/**
 * The whole service. Requires the services of `partsLayer`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (settings: Settings) => Server.layer(serverOptions(settings), groups(settings))

/**
 * The whole service.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (settings: Settings) =>
  layerWith(settings).pipe(Layer.provideMerge(partsLayer(settings)))

/**
 * The GitHub-compatible host alone, with REST also at `/`, and also on a unix socket if the settings name one. Requires
 * the services of the embedded host.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHostWith = (settings: Settings) => {
  const options = serverOptions(settings)
  const listen =
    settings.hostSocket === undefined ? options.listen : [...options.listen, { socket: settings.hostSocket }]
  const mounts = Effect.gen(function* () {
    return [yield* Operational.mount, ...(yield* HostMounts.mounts({ atRoot: true }))]
  })
  return Server.layer(
    { ...options, listen },
    Effect.map(mounts, (all) => ({ operations: new Map(), mounts: all }))
  )
}

/**
 * The GitHub-compatible host alone.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHost = (settings: Settings) =>
  layerHostWith(settings).pipe(Layer.provideMerge(EmbeddedHost.layer(settings, { atRoot: true })))
