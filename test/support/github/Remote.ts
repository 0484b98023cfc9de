import { FetchHttpClient } from "@effect/platform"
import { Effect, Layer, Redacted } from "effect"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import { makeServer, type Server, token } from "./InProcess.js"
import { ownProcess } from "./ownProcess.js"

export { token }

/** A client of a repository, which stands for a process of its own and sends its requests by `send`. */
export const remoteOf = (
  server: Server,
  options: Partial<GitHub.GitHubOptions> = {},
  send: typeof globalThis.fetch = server.fetch
) =>
  GitHub.make({
    repo: server.repo,
    apiUrl: server.url,
    rawUrl: server.raw,
    token: Redacted.make(token),
    ...options
  }).pipe(
    Effect.provide(Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, send))),
    ownProcess
  )

/** An empty repository, and a client of it. */
export const fresh = (options: Partial<GitHub.GitHubOptions> = {}) =>
  Effect.gen(function* () {
    const server = yield* makeServer()
    return { server, remote: yield* remoteOf(server, options) }
  })
