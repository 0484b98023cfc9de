import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import type { GitRemote } from "../../../src/store/GitRemote.js"
import * as LocalGit from "../../../src/store/local/LocalGit.js"
import * as Memory from "../../../src/store/memory/Memory.js"
import type { MemoryRepository } from "../../../src/store/memory/MemoryRepository.js"
import { Store } from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { onOwnHost } from "../../support/github/OnHost.js"

/** A directory that is gone when the scope closes. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "store-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A new bare repository on this machine. */
export const local = Layer.unwrapScoped(
  Effect.map(directory, (directory) => LocalGit.layer({ directory, durability: "none" }))
)

/** Every remote that needs no socket, by name; the last one writes single files, as GitHub's Contents API does. */
export const remotes: ReadonlyArray<readonly [string, Layer.Layer<GitRemote, unknown>]> = [
  ["Memory", Memory.layer()],
  ["Memory with single files", Memory.layer({ singleFile: true })],
  ["LocalGit", local]
]

/** GitHub's client over our own host, both ways of asking; each test starts a server of its own. */
export const hosted: typeof remotes = [
  ["GitHub's client on our own host, over REST", onOwnHost()],
  ["GitHub's client on our own host, over GraphQL", onOwnHost({ useGraphql: true, commitVia: "graphql" })]
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
