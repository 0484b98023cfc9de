import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Clock, Context, Effect, Layer, Redacted, Scope } from "effect"
import type { GitRepositoriesOptions } from "../../../src/git/disk/GitRepositories.js"
import * as RateLimits from "../../../src/http/host/access/RateLimits.js"
import { Tokens } from "../../../src/http/host/access/Tokens.js"
import * as HostLayer from "../../../src/http/host/HostLayer.js"
import { mounts } from "../../../src/http/host/HostMounts.js"
import * as Faulty from "../../../src/http/host/repository/Faults.js"
import { Faults } from "../../../src/http/host/repository/Faults.js"
import { Repositories } from "../../../src/http/host/repository/Repositories.js"
import * as Server from "../../../src/http/server/Server.js"
import { checker } from "./CheckedHost.js"
import { memory } from "./MemoryFileSystem.js"

export interface HostServerOptions
  extends Partial<Omit<HostLayer.HostLayerOptions, "directory" | "token">>,
    Pick<GitRepositoriesOptions, "durability"> {
  readonly limits?: RateLimits.RateLimitOptions
  /** The default API version of `Rest.request`. Default: the oldest. */
  readonly version?: string
  /** The clock of stale reads in milliseconds. Default: the wall clock. */
  readonly staleBy?: Effect.Effect<number>
  /** The data directory of a running host. Default: a temporary directory. */
  readonly beside?: string
  /** Whether replies are checked. False for measurements of the host alone. */
  readonly checked?: boolean
}

/** A host on a free loopback port with its own data directory, which is deleted with its scope. */
export class HostServer extends Context.Tag("test/HostServer")<
  HostServer,
  {
    /** `http://127.0.0.1:PORT`; REST at `/` and `/api/v3`, GraphQL at `/graphql` and `/api/graphql`. */
    readonly url: string
    readonly api: string
    readonly graphql: string
    readonly raw: string
    /** The API version that requests send. Absent: they send none. */
    readonly version: string | undefined
    /** A token with all rights. Its login is `local`. */
    readonly token: string
    readonly directory: string
    readonly faults: typeof Faults.Service
    readonly repositories: typeof Repositories.Service
  }
>() {}

/** A data directory. It is in memory unless a test needs it to survive a crash. */
const directory = ({ beside, durability = "none" }: HostServerOptions) =>
  beside !== undefined
    ? Effect.succeed(beside)
    : Effect.flatMap(FileSystem.FileSystem, (fs) =>
        fs.makeTempDirectoryScoped({
          prefix: "chainstore-host-",
          ...(durability === "none" && memory !== undefined ? { directory: memory } : {})
        })
      )

/** The host uses the wall clock, also when it stops, and not the test's clock. */
const live = <A, E, R>(layer: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.scopedContext(
    Effect.gen(function* () {
      const clock = Clock.make()
      const scope = yield* Scope.make()
      yield* Effect.addFinalizer((exit) => Effect.withClock(Scope.close(scope, exit), clock))
      return yield* Effect.withClock(Layer.buildWithScope(layer, scope), clock)
    })
  )

/** The host's mounts. Every reply is checked, including those of the mounts themselves. */
const judgedMounts = Effect.gen(function* () {
  const { around } = yield* checker
  const all = yield* mounts({ atRoot: true })
  return all.map((mount) => ({ ...mount, app: around(mount.app) }))
})

/** A host over real sockets and a temporary directory, with the given limits and faults. */
export const layer = (options: HostServerOptions = {}) =>
  Layer.unwrapScoped(
    Effect.map(directory(options), (data) => {
      const {
        beside: _,
        durability = "none",
        checked = true,
        limits = {},
        staleBy,
        version,
        ...rest
      } = options
      const stack = HostLayer.layerWith({
        atRoot: true,
        createOnFirstUse: false,
        ...rest,
        directory: data
      }).pipe(
        Layer.provideMerge(
          Layer.merge(
            RateLimits.layer(limits),
            staleBy === undefined ? Faulty.layer : Faulty.layerWith(staleBy)
          )
        ),
        Layer.provide(HostLayer.layerRepositories(data, { durability, maintenance: false }))
      )
      const server = Server.layer(
        Server.defaults,
        Effect.map(checked ? judgedMounts : mounts({ atRoot: true }), (all) => ({
          operations: new Map(),
          mounts: all
        }))
      )
      return Layer.effect(
        HostServer,
        Effect.gen(function* () {
          const { url } = yield* Server.Server
          const tokens = yield* Tokens
          return {
            url,
            api: `${url}/api/v3`,
            graphql: `${url}/api/graphql`,
            raw: `${url}/raw`,
            version,
            token: Redacted.value(tokens.own),
            directory: data,
            faults: yield* Faults,
            repositories: yield* Repositories
          }
        })
      ).pipe(Layer.provide(server), Layer.provideMerge(stack))
    })
  ).pipe(live, Layer.provideMerge(NodeContext.layer))
