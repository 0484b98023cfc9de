import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import { GitRemote } from "../../../src/store/remote/GitRemote.js"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import { HostServer, layer as host } from "../host/HostServer.js"
import { ownProcess } from "./ownProcess.js"

let repositories = 0

/** A new repository of a server: its name, and where the server keeps it. */
export const newRepository = Effect.gen(function* () {
  const server = yield* HostServer
  const repo = `local/store${++repositories}`
  yield* Effect.promise(() =>
    fetch(`${server.api}/user/repos`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.token}`, connection: "close" },
      body: JSON.stringify({ name: repo.slice("local/".length) })
    })
  )
  return { repo, directory: `${server.directory}/repos/${repo}.git`, server }
})

type Repository = Pick<Effect.Effect.Success<typeof newRepository>, "repo" | "server">

const optionsOf = ({ repo, server }: Repository, options: Partial<GitHub.GitHubOptions>) => ({
  repo,
  apiUrl: server.api,
  rawUrl: server.raw,
  token: Redacted.make(server.token),
  paceRequests: false,
  ...options
})

/** A client of a repository of a server, which stands for a process of its own. */
export const clientOf = (repository: Repository, options: Partial<GitHub.GitHubOptions> = {}) =>
  GitHub.make(optionsOf(repository, options)).pipe(Effect.provide(FetchHttpClient.layer), ownProcess)

/** The same for as long as the scope is open: a client that pushes has to be closed. */
export const scopedClientOf = (repository: Repository, options: Partial<GitHub.GitHubOptions> = {}) =>
  GitHub.scoped(optionsOf(repository, options)).pipe(Effect.provide(FetchHttpClient.layer), ownProcess)

/** A new repository of a server: each run of the answer is one more client of it. */
export const clientsOnHost = (options: Partial<GitHub.GitHubOptions> = {}) =>
  Effect.map(newRepository, (repository) => clientOf(repository, options))

/** The client on our own host: every layer that is built is a new repository of one server. */
export const onHost = (
  options: Partial<GitHub.GitHubOptions> = {}
): Layer.Layer<GitRemote, unknown, HostServer> =>
  Layer.scoped(
    GitRemote,
    Effect.flatMap(newRepository, (repository) => scopedClientOf(repository, options))
  )

/** The same with a server of its own, which ends with the layer. */
export const onOwnHost = (options: Partial<GitHub.GitHubOptions> = {}): Layer.Layer<GitRemote, unknown> =>
  Layer.provide(onHost(options), host())
