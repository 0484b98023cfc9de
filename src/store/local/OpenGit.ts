import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { optional, optionsReader, pickOptions, text } from "../../domain/options/Options.js"
import { AsyncStore } from "../promise/AsyncStore.js"
import * as GitHost from "../remote/wire/GitHost.js"
import { Store } from "../Store.js"
import { type StoreOptions, storeFields } from "../StoreOptions.js"

/**
 * The options of a store on any Git server.
 *
 * @since 0.1.0
 * @category options
 */
export interface OpenGitOptions extends StoreOptions, Omit<GitHost.GitHostOptions, "cache"> {
  /** The directory of fetched objects, which `GitHost` calls `cache`. Here `cache` is the cache of the store. */
  readonly cacheDirectory?: string | undefined
}

const { cache: _, ...hostFields } = GitHost.gitHostFields
const read = optionsReader(Schema.Struct({ ...storeFields, ...hostFields, cacheDirectory: optional(text) }))

/**
 * Opens a store in a repository of any Git server, as promises.
 *
 * @since 0.1.0
 * @category constructors
 */
export const openGit = async (options: OpenGitOptions): Promise<AsyncStore> => {
  Either.getOrThrowWith(read("openGit", options), (error) => error)
  const { cacheDirectory: directory } = options
  return AsyncStore.fromLayer(
    Layer.provide(
      Store.layer(pickOptions(storeFields, options)),
      GitHost.layer({
        ...pickOptions(hostFields, options),
        ...(directory === undefined ? {} : { cache: { directory } })
      })
    )
  )
}
