import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { ValidationError } from "../../../domain/errors/StoreError.js"
import { lazyModule } from "../../../domain/runtime/LazyModule.js"
import { GitRemote, type GitRemoteService } from "../GitRemote.js"
import { makeApiRemote } from "./ApiRemote.js"
import { configOf, type GitHubConfig } from "./client/ConfiguredOptions.js"
import { inBrowser } from "./client/InBrowser.js"
import { type GitHubOptions, invalid, resolveOptions } from "./client/Options.js"

export { config, type GitHubConfig } from "./client/ConfiguredOptions.js"
export type { Authorization, GitHubOptions, WriteLane } from "./client/Options.js"

/** Needs Node. A bundler for browsers replaces it by `PushRemote.browser.ts` (`browser` in package.json). */
const pushRemotes = lazyModule(
  (): Promise<Partial<typeof import("./push/PushRemote.js")>> => import("./push/PushRemote.js")
)

/**
 * A repository on GitHub, on a GitHub Enterprise server or on our own host.
 *
 * Exceptions from the port: without `commitVia: "graphql"`, a branch that was reset to an ancestor of the expected head is not
 * detected, because GitHub checks for a fast-forward and not for equality. The first commit of an empty repository with more
 * than one file has a parent, because GitHub accepts only one file there.
 *
 * `commitVia: "push"` needs a scope: `layer`, or `scoped`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: GitHubOptions
): Effect.Effect<GitRemoteService, ValidationError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const settings = yield* resolveOptions(options)
    if (settings.commitVia === "push") {
      return yield* invalid('commitVia: "push" needs a scope', "use GitHub.layer or GitHub.scoped")
    }
    return (yield* makeApiRemote(settings)).api
  })

/**
 * The remote of `layer` as a scoped value.
 *
 * @since 0.1.0
 * @category constructors
 */
export const scoped = (
  options: GitHubOptions
): Effect.Effect<GitRemoteService, ValidationError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function* () {
    const settings = yield* resolveOptions(options)
    const client = yield* makeApiRemote(settings)
    if (settings.commitVia !== "push" || settings.readOnly) return client.api
    const http = Option.isSome(settings.session) ? settings.session.value : yield* HttpClient.HttpClient
    const { makePushRemote } = yield* Effect.orElseSucceed(pushRemotes, () => ({ makePushRemote: undefined }))
    return makePushRemote === undefined || inBrowser
      ? yield* invalid(
          'commitVia: "push" needs Node: no page may send requests to a Git server',
          "leave it out"
        )
      : yield* makePushRemote({ ...client, http })
  })

/**
 * The remote over the `HttpClient` of the environment: `fetch`, undici, a proxy or a recorder.
 *
 * @example
 * ```ts
 * const remote = GitHub.layer({ repo: "me/data", token: Redacted.make("ghp_...") })
 * const live = Store.layer().pipe(Layer.provide(remote), Layer.provide(FetchHttpClient.layer))
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: GitHubOptions
): Layer.Layer<GitRemote, ValidationError, HttpClient.HttpClient> => Layer.scoped(GitRemote, scoped(options))

/**
 * The remote over the platform's own `fetch`, in Node as in a browser.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFetch = (options: GitHubOptions): Layer.Layer<GitRemote, ValidationError> =>
  Layer.provide(layer(options), FetchHttpClient.layer)

/**
 * As `layer`, with options from configuration. What is not given is looked for in the environment: `CHAINSTORE_REPO`,
 * `CHAINSTORE_TOKEN`, `CHAINSTORE_API_URL` and `CHAINSTORE_RAW_URL`.
 *
 * @example
 * ```ts
 * const remote = GitHub.layerConfig({ repo: Config.string("DATA_REPO"), timeout: "10 seconds" })
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  options: GitHubConfig = {}
): Layer.Layer<GitRemote, ValidationError | ConfigError.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrapEffect(Effect.map(configOf(options), layer))
