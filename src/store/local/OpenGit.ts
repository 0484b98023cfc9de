import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type FieldsOf, optional, optionsReader, pickOptions, text } from "../../domain/options/Options.js"
import { AsyncStore } from "../promise/AsyncStore.js"
import {
  authOf,
  clientOf,
  type PlainAuth,
  type PlainHttpOptions,
  plainHttpFields,
  tokenOf
} from "../promise/PlainHttp.js"
import * as GitHost from "../remote/wire/GitHost.js"
import { Store } from "../Store.js"
import { type StoreOptions, storeFields } from "../StoreOptions.js"

/**
 * The options of a store on any Git server, as plain values.
 *
 * @since 0.1.0
 * @category options
 */
export interface OpenGitOptions
  extends StoreOptions,
    PlainHttpOptions,
    Omit<GitHost.GitHostOptions, "cache" | "token" | "auth" | "session"> {
  /** Returns an `Authorization` header. Called for each request. */
  readonly auth?: PlainAuth | undefined
  /** The directory of fetched objects, which `GitHost` calls `cache`. Here `cache` is the cache of the store. */
  readonly cacheDirectory?: string | undefined
}

const { auth: _auth, cache: _cache, session: _session, token: _token, ...hostFields } = GitHost.gitHostFields
const read = optionsReader(
  Schema.Struct({
    ...storeFields,
    ...hostFields,
    ...plainHttpFields,
    cacheDirectory: optional(text)
  } satisfies FieldsOf<OpenGitOptions>)
)

/**
 * Opens a store in a repository of any Git server, as promises.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openGit = async (options: OpenGitOptions): Promise<AsyncStore> => {
  Either.getOrThrowWith(read("openGit", options), (error) => error)
  const { auth, cacheDirectory: directory, fetch, token } = options
  const remote = Layer.unwrapEffect(
    Effect.map(HttpClient.HttpClient, (client) =>
      GitHost.layer({
        ...pickOptions(hostFields, options),
        token: tokenOf(token),
        auth: auth === undefined ? undefined : Effect.map(authOf(auth), ({ header }) => header),
        // An address of ssh takes no session.
        session: fetch === undefined ? undefined : client,
        ...(directory === undefined ? {} : { cache: { directory } })
      })
    )
  )
  return AsyncStore.fromLayer(
    Store.layer(pickOptions(storeFields, options)).pipe(Layer.provide(remote), Layer.provide(clientOf(fetch)))
  )
}
