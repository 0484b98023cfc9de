import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type FieldsOf, optionsReader, pickOptions } from "../../domain/options/Options.js"
import { gitHubFields } from "../remote/github/client/Options.js"
import * as GitHub from "../remote/github/GitHub.js"
import { Store } from "../Store.js"
import { type StoreOptions, storeFields } from "../StoreOptions.js"
import { AsyncStore } from "./AsyncStore.js"
import {
  authOf,
  clientOf,
  type PlainAuth,
  type PlainHttpOptions,
  plainHttpFields,
  tokenOf
} from "./PlainHttp.js"

/**
 * The options of a store on GitHub, as plain values.
 *
 * @since 0.1.0
 * @category options
 */
export interface OpenStoreOptions
  extends StoreOptions,
    PlainHttpOptions,
    Omit<GitHub.GitHubOptions, "token" | "auth" | "session" | keyof StoreOptions> {
  /** Returns an `Authorization` header. Called again one minute before `expiresAt`, and when the host rejects it. */
  readonly auth?: PlainAuth | undefined
}

const { auth: _auth, session: _session, token: _token, ...remoteFields } = gitHubFields

const read = optionsReader(
  Schema.Struct({
    ...storeFields,
    ...remoteFields,
    ...plainHttpFields
  } satisfies FieldsOf<OpenStoreOptions>)
)

/**
 * Opens a store on GitHub, GitHub Enterprise, or a compatible host; `chainstore/local` opens one on this machine.
 *
 * @example
 * ```ts
 * await using store = await openStore({ repo: "me/data", token: process.env["GITHUB_TOKEN"] })
 * const id = await store.collection("people").insert({ name: "Ada" })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const openStore = async (options: OpenStoreOptions): Promise<AsyncStore> => {
  Either.getOrThrowWith(read("openStore", options), (error) => error)
  const { auth, fetch, token } = options
  const remote = GitHub.layer({
    ...pickOptions(remoteFields, options),
    token: tokenOf(token),
    auth: auth === undefined ? undefined : authOf(auth)
  })
  return AsyncStore.fromLayer(
    Store.layer(pickOptions(storeFields, options)).pipe(Layer.provide(remote), Layer.provide(clientOf(fetch)))
  )
}
