import { join, resolve } from "node:path"
import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Option } from "effect"
import { type Connection, type MissingRepository, StoreOpener } from "../cli/Connection.js"
import { NotFoundError, ValidationError } from "../domain/errors/StoreError.js"
import { makeDirectory, pathExists } from "../git/disk/files/Directories.js"
import { attempt } from "../git/disk/files/EngineError.js"
import { parseName } from "../git/disk/GitRepositories.js"
import { GitRemote } from "../store/remote/GitRemote.js"
import * as GitHub from "../store/remote/github/GitHub.js"
import * as LocalGit from "../store/remote/local/LocalGit.js"
import * as Memory from "../store/remote/memory/Memory.js"
import * as GitAddress from "../store/remote/wire/GitAddress.js"
import * as GitHost from "../store/remote/wire/GitHost.js"
import { Store } from "../store/Store.js"
import { credentialsOf } from "./GitCredentials.js"
import * as NewRepository from "./NewRepository.js"

/** A repository in a directory. A missing repository is created only by a commit, and only if that is requested. */
const onDisk = (connection: Extract<Connection, { _tag: "Local" }>, missing: MissingRepository) =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const { directory, repo } = connection
      const { name, owner } = yield* parseName(repo)
      const path = join(directory, owner, `${name}.git`)
      const present = yield* attempt("Stores.open", directory, () => pathExists(path))
      if (!present && missing === "empty") return Memory.layer()
      if (!present && missing === "fail") {
        return yield* new NotFoundError({
          operation: "Stores.open",
          path,
          message: `there is no repository ${repo} in ${directory}`,
          hint: "the first `put` or `import` creates it; use --repo and --directory for another repository"
        })
      }
      const opened = Effect.zipRight(
        makeDirectory(join(directory, owner)),
        LocalGit.scoped({ directory, repo, create: missing === "create" })
      )
      const remote = present ? opened : NewRepository.make(`file://${resolve(path)}`, repo, opened)
      return Layer.scoped(GitRemote, remote)
    })
  )

const onApi = (connection: Extract<Connection, { _tag: "GitHub" }>) =>
  Layer.provide(
    GitHub.layer({
      repo: connection.repo,
      token: Option.getOrUndefined(connection.token),
      apiUrl: Option.getOrUndefined(connection.apiUrl),
      commitVia: Option.getOrUndefined(connection.commitVia),
      concurrency: 8
    }),
    FetchHttpClient.layer
  )

/** A repository of any Git server. SSH uses keys instead of tokens. */
const onServer = ({ token, url }: Extract<Connection, { _tag: "Git" }>) => {
  const address = GitAddress.parse(url)
  if (address instanceof ValidationError || address._tag === "Ssh") return GitHost.layer({ url })
  return Layer.unwrapEffect(
    Effect.map(Option.isSome(token) ? Effect.succeed({ token: token.value }) : credentialsOf(url), (given) =>
      GitHost.layer({ url, ...given })
    )
  )
}

const remoteOf = (connection: Connection, missing: MissingRepository) => {
  switch (connection._tag) {
    case "Local":
      return onDisk(connection, missing)
    case "Git":
      return onServer(connection)
    case "GitHub":
      return onApi(connection)
  }
}

/** Opens the stores of the command line: in bare repositories on this machine, on an API, or on any Git server. */
export const layer = Layer.succeed(
  StoreOpener,
  StoreOpener.of({
    open: (connection, missing) => {
      const { branch, layout, root } = connection
      return Layer.provide(
        Store.layer({ branch, root, concurrency: 8, ...layout }),
        remoteOf(connection, missing)
      )
    }
  })
)
