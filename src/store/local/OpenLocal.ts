import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { optionsReader, pickOptions } from "../../domain/options/Options.js"
import { AsyncStore } from "../promise/AsyncStore.js"
import * as LocalGit from "../remote/local/LocalGit.js"
import { Store } from "../Store.js"
import { type StoreOptions, storeFields } from "../StoreOptions.js"

/**
 * The options of a store on this machine.
 *
 * @since 0.1.0
 * @category options
 */
export interface OpenLocalOptions extends StoreOptions, LocalGit.LocalGitOptions {}

const read = optionsReader(Schema.Struct({ ...storeFields, ...LocalGit.localGitFields }))

/**
 * Opens a store in a bare repository on this machine, as promises.
 *
 * @example
 * ```ts
 * await using store = await openLocal({ directory: "repos", repo: "me/data" })
 * const id = await store.collection("people").insert({ name: "Ada" })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const openLocal = async (options: OpenLocalOptions): Promise<AsyncStore> => {
  Either.getOrThrowWith(read("openLocal", options), (error) => error)
  return AsyncStore.fromLayer(
    Layer.provide(
      Store.layer(pickOptions(storeFields, options)),
      LocalGit.layer(pickOptions(LocalGit.localGitFields, options))
    )
  )
}
