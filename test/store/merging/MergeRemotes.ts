import { execFileSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { MemoryRepository } from "../../../src/git/memory/MemoryRepository.js"
import type { GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import * as LocalGit from "../../../src/store/remote/local/LocalGit.js"
import * as Memory from "../../../src/store/remote/memory/Memory.js"
import * as GitHost from "../../../src/store/remote/wire/GitHost.js"
import * as HttpBackend from "../../support/git/HttpBackend.js"
import { newRepository, scopedClientOf } from "../../support/github/OnHost.js"
import { directory, hostTokens, thisHost, ways } from "../core/Remotes.js"

type Client = Effect.Effect<GitRemoteService, unknown, Scope.Scope>

/** A repository: clients of it, and what somebody else does to it who uses no client of ours. */
export interface MergeRemote {
  /** One more client. */
  readonly client: Client
  /** A client whose rights end at reading; undefined where everybody who reads may write. */
  readonly reader: Client | undefined
  /** Stock Git in the repository that is served; undefined in memory. */
  readonly git: ((...args: ReadonlyArray<string>) => string) | undefined
  /** Sets a branch by force, or deletes it. */
  readonly force: (branch: string, commit: string | undefined) => void
}

const served = (at: string) => {
  const git = (...args: ReadonlyArray<string>) =>
    execFileSync("git", ["-C", at, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim()
  return {
    git,
    force: (branch: string, commit: string | undefined) =>
      void (commit === undefined
        ? git("update-ref", "-d", `refs/heads/${branch}`)
        : git("update-ref", `refs/heads/${branch}`, commit))
  }
}

const inMemory = Effect.sync((): MergeRemote => {
  const repository = new MemoryRepository()
  return {
    client: Memory.make({ repository }),
    reader: undefined,
    git: undefined,
    force: (branch, commit) => {
      if (commit === undefined) repository.refs.delete(`refs/heads/${branch}`)
      else repository.refs.set(`refs/heads/${branch}`, commit as Oid)
    }
  }
})

const onDisk = Effect.map(
  directory,
  (path): MergeRemote => ({
    client: LocalGit.scoped({ directory: path, durability: "none" }),
    reader: undefined,
    ...served(join(path, "local/store.git"))
  })
)

const onHost = (way: Partial<GitHubOptions>) =>
  Effect.gen(function* () {
    // A host that fails is asked again at once.
    const options = { ...way, backoffFactor: "10 millis" } as const
    const repository = yield* newRepository
    const tokens = yield* hostTokens
    const token = yield* tokens.issue("reader", [{ repository: repository.repo, access: "read" }])
    return {
      client: scopedClientOf(repository, options),
      reader: scopedClientOf(repository, { ...options, token }),
      ...served(repository.directory)
    } satisfies MergeRemote
  }).pipe(Effect.provide(thisHost))

const byWire = Effect.map(HttpBackend.make, (backend): MergeRemote => {
  const url = backend.create("repository.git")
  const at = join(backend.directory, "repository.git")
  // Another server of the same repository, which takes no pushes.
  const reader = Effect.flatMap(HttpBackend.make, (other) => {
    other.intercept = (request, response) => {
      if (!/receive-pack/.test(request.url ?? "")) return false
      request.resume()
      response.writeHead(403, { "content-type": "text/plain" })
      response.end("no right to write\n")
      return true
    }
    symlinkSync(at, join(other.directory, "repository.git"))
    return GitHost.scoped({ url: `${other.url}/repository.git` })
  })
  return { client: GitHost.scoped({ url }), reader, ...served(at) }
})

/** A repository of its own on every kind of remote. */
export const mergeRemotes: ReadonlyArray<
  readonly [string, Effect.Effect<MergeRemote, unknown, Scope.Scope>]
> = [
  ["Memory", inMemory],
  ["LocalGit", onDisk],
  ...[...ways, ["by push", { commitVia: "push" }] as const].map(
    ([way, options]) => [`GitHub's client on our own host, ${way}`, onHost(options)] as const
  ),
  ["Git's protocol", byWire]
]
