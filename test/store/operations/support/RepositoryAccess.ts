import { FetchHttpClient } from "@effect/platform"
import { Layer, Redacted } from "effect"
import * as GitHub from "../../../../src/store/remote/github/GitHub.js"
import * as LocalGit from "../../../../src/store/remote/local/LocalGit.js"
import * as Store from "../../../../src/store/Store.js"
import type { StoreOptions } from "../../../../src/store/StoreOptions.js"

/** How a process reaches its repository: one below a directory of its own, or one on a host. */
export type RepositoryAccess =
  | { readonly directory: string }
  | { readonly apiUrl: string; readonly token: string; readonly graphql: boolean }

/** The repository of these tests, wherever it is. */
export const repository = "local/killed"

const remote = (reached: RepositoryAccess) => {
  if ("directory" in reached) return LocalGit.layer({ directory: reached.directory, repo: repository })
  const { apiUrl, graphql, token } = reached
  return GitHub.layer({
    repo: repository,
    apiUrl,
    token: Redacted.make(token),
    paceRequests: false,
    ...(graphql ? { useGraphql: true, commitVia: "graphql" } : {})
  }).pipe(Layer.provide(FetchHttpClient.layer))
}

/** A store in it. */
export const layer = (reached: RepositoryAccess, options: StoreOptions = {}) =>
  Layer.provide(Store.layer(options), remote(reached))
