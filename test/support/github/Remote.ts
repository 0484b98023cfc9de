import { FetchHttpClient } from "@effect/platform"
import { Effect, Redacted } from "effect"
import * as GitHub from "../../../src/store/remote/github/GitHub.js"
import { ownProcess } from "./ownProcess.js"
import { TestHost } from "./TestHost.js"
import { makeTestServer, type TestServer } from "./TestServer.js"

export const token = "ghp_a-token-that-must-not-leak"

/** A client of a test server, which stands for a process of its own; the lane is lifted, since nothing here is rationed. */
export const remoteOf = (server: TestServer, options: Partial<GitHub.GitHubOptions> = {}) =>
  GitHub.make({
    repo: server.host.full,
    apiUrl: server.url,
    rawUrl: server.raw,
    token: Redacted.make(token),
    ...options
  }).pipe(Effect.provide(FetchHttpClient.layer), ownProcess)

/** A server with an empty repository, and a client of it. */
export const fresh = (options: Partial<GitHub.GitHubOptions> = {}) =>
  Effect.gen(function* () {
    const server = yield* makeTestServer(new TestHost({ token }))
    return { server, remote: yield* remoteOf(server, options) }
  })
