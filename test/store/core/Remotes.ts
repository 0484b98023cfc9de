import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Layer, Logger, LogLevel, ManagedRuntime, type Scope } from "effect"
import type { MemoryRepository } from "../../../src/git/memory/MemoryRepository.js"
import { Tokens } from "../../../src/http/host/access/Tokens.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { clientsOnHost, newRepository, onHost, scopedClientOf } from "../../support/github/OnHost.js"
import { HostServer, layer as host } from "../../support/host/HostServer.js"
import { perFile } from "../../support/vitest/perFile.js"

/** A directory that is gone when the scope closes. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A new bare repository on this machine. */
export const local = Layer.unwrapScoped(
  Effect.map(directory, (directory) => LocalGit.layer({ directory, durability: "none" }))
)

/** Every remote that needs no socket, by name. */
export const remotes: ReadonlyArray<readonly [string, Layer.Layer<GitRemote, unknown>]> = [
  ["Memory", Memory.layer()],
  ["LocalGit", local]
]

// One server for all tests of a file, which know each other as little as repositories of one host do.
const hosting = perFile(() => {
  const value = ManagedRuntime.make(Layer.provide(host(), Logger.minimumLogLevel(LogLevel.Warning)))
  return { value, end: () => value.dispose() }
})

/** The server that `hosted` is on. */
export const hostServer = Effect.map(
  Effect.promise(() => hosting().runtime()),
  ({ context }) => Context.get(context, HostServer)
)

/** The tokens of that server. */
export const hostTokens = Effect.map(
  Effect.promise(() => hosting().runtime()),
  ({ context }) => Context.get(context, Tokens)
)

/** The layer of that server. */
export const thisHost = Layer.effect(HostServer, hostServer)

/** The two ways in which GitHub's client asks. */
export const ways = [
  ["over REST", {}],
  ["over GraphQL", { useGraphql: true, commitVia: "graphql" }]
] as const satisfies ReadonlyArray<readonly [string, Partial<GitHubOptions>]>

/** GitHub's client over our own host, both ways of asking; each layer that is built is a repository of its own. */
export const hosted: typeof remotes = ways.map(([way, options]) => [
  `GitHub's client on our own host, ${way}`,
  Layer.provide(onHost(options), thisHost)
])

/** A remote of its own, for as long as the scope is open. */
export const connect = (layer: Layer.Layer<GitRemote, unknown>) =>
  Effect.map(Layer.build(Layer.fresh(layer)), Context.get(GitRemote))

/** Each run is a new repository, and each run of its answer one more client of it. */
export type Repository = Effect.Effect<Effect.Effect<GitRemoteService, unknown>, unknown>

/** Repositories by their remotes' names. */
export const repositories: ReadonlyArray<readonly [string, Repository]> = [
  ...ways.map(
    ([way, options]) =>
      [`GitHub's client on our own host, ${way}`, Effect.provide(clientsOnHost(options), thisHost)] as const
  )
]

type Pushing = Effect.Effect<Effect.Effect<GitRemoteService, unknown, Scope.Scope>, unknown, Scope.Scope>

/** The same of remotes whose clients push, and have to be closed. */
export const pushed: ReadonlyArray<readonly [string, Pushing]> = [
  [
    "GitHub's client on our own host, by push",
    Effect.provide(
      Effect.map(newRepository, (repository) => scopedClientOf(repository, { commitVia: "push" })),
      thisHost
    )
  ],
  [
    "Git's protocol",
    Effect.map(HttpBackend.make, (backend) => {
      const url = backend.create("repository.git")
      return GitHost.scoped({ url })
    })
  ]
]

/** One more store over a repository in memory that others share. */
export const openMemory = (
  repository: MemoryRepository,
  options: StoreOptions = {},
  memory: Memory.MemoryOptions = {}
) =>
  Effect.flatMap(
    Layer.build(Layer.provide(Store.layer(options), Memory.layer({ ...memory, repository }))),
    (context) => Effect.provide(Store, context)
  )
