import { FetchHttpClient, HttpClient } from "@effect/platform"
import { it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type * as GitHub from "../../../src/store/remote/github/GitHub.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { hostServer } from "../../store/core/Remotes.js"
import { HostServer } from "../host/HostServer.js"
import { newRepository, scopedClientOf } from "./OnHost.js"

export type Repository = Effect.Effect.Success<typeof newRepository>

/** One request of a client: by Git's protocol, or of the API. */
export interface Sent {
  readonly to: string
  readonly authorization: string | undefined
}

export const push = "POST git-receive-pack"
export const pull = "POST git-upload-pack"

/** A client that notes what it sends. */
const noting = (sent: Array<Sent>, fetch: typeof globalThis.fetch = globalThis.fetch) =>
  HttpClient.HttpClient.pipe(
    Effect.map(
      HttpClient.tapRequest(({ headers, method, url }) =>
        Effect.sync(() => {
          const { pathname } = new URL(url)
          const [, service] = /\.git\/(.+)$/.exec(pathname) ?? []
          sent.push({
            to: `${method} ${service ?? pathname.replace(/^\/api\/v3\/repos\/[^/]+\/[^/]+/, "API ")}`,
            authorization: headers["authorization"]
          })
        })
      )
    ),
    Effect.provide(Layer.provide(FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetch)))
  )

const storeOf = (remote: GitRemoteService, options: StoreOptions = {}) =>
  Effect.provideService(Store.make(options), GitRemote, remote)

/** A store by pushes, and the requests that it sends. */
export const opened = (
  repository: Repository,
  options: Partial<GitHub.GitHubOptions> = {},
  store: StoreOptions = {},
  fetch?: typeof globalThis.fetch
) =>
  Effect.gen(function* () {
    const sent: Array<Sent> = []
    const session = yield* noting(sent, fetch)
    const remote = yield* scopedClientOf(repository, { commitVia: "push", session, ...options })
    const asking = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const before = sent.length
        return Effect.map(effect, () => sent.slice(before).map(({ to }) => to))
      })
    return { remote, sent, asking, store: yield* storeOf(remote, store) }
  })

/** A test with a new repository of a host, which is without faults afterwards. */
export const test = (
  title: string,
  body: (repository: Repository) => Effect.Effect<void, unknown, Scope.Scope>
) =>
  it.live(
    title,
    () =>
      Effect.gen(function* () {
        const server = yield* hostServer
        yield* Effect.ensuring(
          Effect.flatMap(Effect.provideService(newRepository, HostServer, server), body),
          server.faults.set({})
        )
      }).pipe(Effect.scoped),
    60_000
  )

export const many = (count: number) => Array.from({ length: count }, (_, n) => n)
