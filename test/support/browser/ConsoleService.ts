import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, Effect, Layer, Logger, Redacted } from "effect"
import { GitRepositories } from "../../../src/git/disk/GitRepositories.js"
import { type SessionLimits, Sessions } from "../../../src/http/console/Sessions.js"
import { PagesDirectory } from "../../../src/http/console/StaticPages.js"
import { Tokens } from "../../../src/http/host/access/Tokens.js"
import type { Host } from "../../../src/http/host/Host.js"
import * as Server from "../../../src/http/server/Server.js"
import * as EmbeddedHost from "../../../src/layers/EmbeddedHost.js"
import * as Service from "../../../src/layers/Service.js"
import * as Settings from "../../../src/layers/Settings.js"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import { fromRepository } from "../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreService } from "../../../src/store/StoreService.js"
import * as CheckedHost from "../host/CheckedHost.js"
import { layout } from "./Seed.js"

export interface ConsoleServiceOptions {
  /** The environment of the service, beside its port and its data directory. */
  readonly environment?: Readonly<Record<string, string>>
  readonly sessions?: SessionLimits
  readonly log?: Layer.Layer<never>
  /** The stand-alone host instead of the whole service. */
  readonly hostAlone?: boolean
  /** Where the built console lies; the package's own build when absent. */
  readonly pages?: string
}

/**
 * The real service, or the stand-alone host, on a free port of loopback over a temporary directory. Every answer of
 * the host is held against GitHub's descriptions.
 */
export class ConsoleService extends Context.Tag("test/ConsoleService")<
  ConsoleService,
  {
    readonly url: string
    readonly port: number
    /** The embedded host's own token. */
    readonly token: string
    readonly tokens: typeof Tokens.Service
    /** Where the bare repository `test/shop` lies. */
    readonly repository: string
    /** A store in `test/shop`, for seeding and for looking behind the console. */
    readonly store: StoreService
  }
>() {}

/** The repository that the tests fill: the service's own demo is left alone. */
export const repo = "test/shop"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "chainstore-console-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const settingsOf = (directory: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.withConfigProvider(
    Settings.settings,
    ConfigProvider.fromMap(new Map(Object.entries({ PORT: "0", CHAINSTORE_DATA: directory, ...environment })))
  )

export const layer = (options: ConsoleServiceOptions = {}) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const data = yield* directory
      const settings = yield* settingsOf(data, options.environment)
      const judged = <A, E>(parts: Layer.Layer<A | Host, E>): Layer.Layer<A | Host, E> =>
        Layer.provideMerge(CheckedHost.layer, parts)
      const whole = Service.layerWith(settings).pipe(
        Layer.provide(options.sessions === undefined ? Layer.empty : Sessions.Default(options.sessions)),
        Layer.provideMerge(judged(Service.partsLayer(settings)))
      )
      const host = Service.layerHostWith(settings).pipe(
        Layer.provideMerge(judged(EmbeddedHost.layer(settings, { atRoot: true })))
      )
      const server = options.hostAlone === true ? host : whole
      return Layer.scoped(
        ConsoleService,
        Effect.gen(function* () {
          const { url } = yield* Server.Server
          const tokens = yield* Tokens
          const repositories = yield* GitRepositories
          const [owner = "", name = ""] = repo.split("/")
          const { repository } = yield* repositories.create(owner, name)
          const store = yield* Store.make({ ...layout, concurrency: 8 }).pipe(
            Effect.provideService(GitRemote, fromRepository(repository))
          )
          return {
            url,
            port: Number(new URL(url).port),
            token: Redacted.value(tokens.own),
            tokens,
            repository: join(data, "repos", owner, `${name}.git`),
            store
          }
        })
      ).pipe(
        Layer.provide(server),
        Layer.provide(
          options.pages === undefined ? Layer.empty : Layer.succeed(PagesDirectory, options.pages)
        ),
        Layer.provide(options.log ?? Logger.remove(Logger.defaultLogger))
      )
    })
  )
