import { Layer, type Redacted } from "effect"
import * as GitRepositories from "../../git/disk/GitRepositories.js"
import * as ArchiveTokens from "./access/ArchiveTokens.js"
import * as RateLimits from "./access/RateLimits.js"
import * as Tokens from "./access/Tokens.js"
import * as Demo from "./Demo.js"
import * as Host from "./Host.js"
import * as Faults from "./repository/Faults.js"
import * as Repositories from "./repository/Repositories.js"

/** The options of the host. */
export interface HostLayerOptions extends Host.HostOptions, Repositories.RepositoriesOptions {
  /** The data directory with the token files and the bare repositories in `repos/`. */
  readonly directory: string
  /** The host's own token. It replaces the token in the token file. */
  readonly token?: Redacted.Redacted | undefined
  /** Additional tokens, which are not stored. */
  readonly tokens?: ReadonlyArray<Tokens.ExtraToken> | undefined
}

/** The host without its rate limits and faults, which the caller provides. */
export const layerWith = (options: HostLayerOptions) =>
  Host.layer(options).pipe(
    Layer.provideMerge(Layer.mergeAll(Repositories.layer(options), ArchiveTokens.layer)),
    Layer.provideMerge(
      Tokens.layer({ directory: options.directory, own: options.token, given: options.tokens })
    )
  )

/** The repositories of the data directory. */
export const layerRepositories = (
  directory: string,
  options: Omit<GitRepositories.GitRepositoriesOptions, "directory"> = {}
) => GitRepositories.layer({ ...options, directory: `${directory}/repos` })

/** The options of a standalone host. By default no rate limits are enforced and no faults are injected. */
export interface StandaloneOptions extends HostLayerOptions {
  /** Whether to create and fill `local/demo` on the first start. Default: true. */
  readonly demo?: boolean
  /** The rate limits to enforce. `RateLimits.documented` are GitHub's. */
  readonly limits?: RateLimits.RateLimitOptions | undefined
  /**
   * A JSON file with fault rules, which is read again when it changes. Without it, only `Faults.set` injects faults.
   */
  readonly faultsFile?: string | undefined
}

/** The standalone host. */
export const layer = (options: StandaloneOptions) => {
  const faults = options.faultsFile === undefined ? Faults.layer : Faults.layerFile(options.faultsFile)
  const host = layerWith(options).pipe(
    Layer.provideMerge(Layer.merge(RateLimits.layer(options.limits ?? {}), faults))
  )
  return options.demo === false ? host : Layer.provideMerge(Demo.layer, host)
}
