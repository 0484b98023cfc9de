import * as Layer from "effect/Layer"
import { AsyncStore } from "../promise/AsyncStore.js"
import { Store } from "../Store.js"
import type { StoreOptions } from "../StoreOptions.js"
import * as LocalGit from "./LocalGit.js"

/** The options of a store on this machine. */
export interface OpenLocalOptions extends StoreOptions, Omit<LocalGit.LocalGitOptions, "repository"> {
  /** `<owner>/<name>`, kept at `<directory>/<owner>/<name>.git`. Default `local/store`. */
  readonly repo?: string | undefined
}

/** Opens a store in a bare repository on this machine, as promises. */
export const openLocal = ({ repo, ...options }: OpenLocalOptions): Promise<AsyncStore> =>
  AsyncStore.fromLayer(Layer.provide(Store.layer(options), LocalGit.layer({ ...options, repository: repo })))
