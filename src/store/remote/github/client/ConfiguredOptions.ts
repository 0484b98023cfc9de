import * as Config from "effect/Config"
import * as Option from "effect/Option"
import { carriers, type GitHubOptions } from "./Options.js"

const optional = <A>(config: Config.Config<A>) => Config.map(Config.option(config), Option.getOrUndefined)

const environment = {
  repo: Config.nonEmptyString("CHAINSTORE_REPO"),
  token: optional(Config.redacted("CHAINSTORE_TOKEN")),
  apiUrl: optional(Config.nonEmptyString("CHAINSTORE_API_URL")),
  rawUrl: optional(Config.nonEmptyString("CHAINSTORE_RAW_URL")),
  commitVia: optional(Config.literal(...carriers)("CHAINSTORE_COMMIT_VIA"))
}

/**
 * Options from environment variables: `CHAINSTORE_REPO`, `CHAINSTORE_TOKEN`, `CHAINSTORE_API_URL`,
 * `CHAINSTORE_RAW_URL`, `CHAINSTORE_COMMIT_VIA`.
 *
 * @since 0.1.0
 * @category options
 */
export const config: Config.Config<GitHubOptions> = Config.all(environment)

/**
 * The options of `layerConfig`: each is a value or a `Config`.
 *
 * @since 0.1.0
 * @category options
 */
export type GitHubConfig = {
  readonly [Name in keyof GitHubOptions]?: GitHubOptions[Name] | Config.Config<GitHubOptions[Name]>
}

/** The given options, and the environment variables for the others. */
export const configOf = (given: GitHubConfig): Config.Config<GitHubOptions> =>
  Config.all(
    Object.fromEntries(
      Object.entries({ ...environment, ...given }).map(([name, value]) => [
        name,
        Config.isConfig(value) ? value : Config.succeed(value)
      ])
    )
  ) as Config.Config<any>
