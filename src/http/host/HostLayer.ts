import { Layer, type Redacted } from "effect"
import * as GitRepositories from "../../git/disk/GitRepositories.js"
import * as ArchiveTokens from "./access/ArchiveTokens.js"
import * as RateLimits from "./access/RateLimits.js"
import * as Tokens from "./access/Tokens.js"
import * as Demo from "./Demo.js"
import * as Host from "./Host.js"
import * as Faults from "./repository/Faults.js"
import * as Repositories from "./repository/Repositories.js"

/** The host's settings, all in one place. */
export interface HostLayerOptions extends Host.HostOptions, Repositories.RepositoriesOptions {
  /** Holds the token files, and the bare repositories below `repos/`. */
  readonly directory: string
  /** The host's own token, in place of the one in its file. */
  readonly token?: Redacted.Redacted | undefined
  /** Further tokens of this run alone. */
  readonly tokens?: ReadonlyArray<Tokens.ExtraToken> | undefined
}

/** Everything that the host needs beside its limits and faults, which are chosen by whoever runs it. */
export const layerWith = (options: HostLayerOptions) =>
  Host.layer(options).pipe(
    Layer.provideMerge(Layer.mergeAll(Repositories.layer(options), ArchiveTokens.layer)),
    Layer.provideMerge(
      Tokens.layer({ directory: options.directory, own: options.token, given: options.tokens })
    )
  )

/** The repositories below the data directory. */
export const layerRepositories = (
  directory: string,
  options: Omit<GitRepositories.GitRepositoriesOptions, "directory"> = {}
) => GitRepositories.layer({ ...options, directory: `${directory}/repos` })

/** What a stand-alone host is told beside: nothing is limited, and nothing goes wrong, unless it says so. */
export interface StandaloneOptions extends HostLayerOptions {
  /** Makes and fills `local/demo` on the first start. Default true. */
  readonly demo?: boolean
  /** Limits to enforce; `RateLimits.documented` are GitHub's. */
  readonly limits?: RateLimits.RateLimitOptions | undefined
  /** A JSON file of faults, followed as it changes; without it `Faults` is switched from inside alone. */
  readonly faultsFile?: string | undefined
}

/** The host as people run it. */
export const layer = (options: StandaloneOptions) => {
  const faults = options.faultsFile === undefined ? Faults.layer : Faults.layerFile(options.faultsFile)
  const host = layerWith(options).pipe(
    Layer.provideMerge(Layer.merge(RateLimits.layer(options.limits ?? {}), faults))
  )
  return options.demo === false ? host : Layer.provideMerge(Demo.layer, host)
}
