import { FetchHttpClient } from "@effect/platform"
import { Layer, Option } from "effect"
import { Stores } from "../cli/Connection.js"
import * as GitHub from "../store/github/GitHub.js"
import * as LocalGit from "../store/local/LocalGit.js"
import { Store } from "../store/Store.js"

/** Opens the command line's stores: bare repositories on this machine, or an API. */
export const layer = Layer.succeed(
  Stores,
  Stores.of({
    open: (connection) => {
      const { branch, layout, root } = connection
      const remote =
        connection._tag === "Local"
          ? LocalGit.layer({ directory: connection.directory, repository: connection.repo })
          : Layer.provide(
              GitHub.layer({
                repo: connection.repo,
                token: Option.getOrUndefined(connection.token),
                apiUrl: Option.getOrUndefined(connection.apiUrl),
                concurrency: 8
              }),
              FetchHttpClient.layer
            )
      return Layer.provide(Store.layer({ branch, root, concurrency: 8, ...layout }), remote)
    }
  })
)
