import { afterAll } from "@effect/vitest"
import { Effect, Exit, Runtime, Scope } from "effect"
import { RemoteError } from "../../../src/domain/errors/StoreError.js"
import type { Oid } from "../../../src/domain/identifiers/Oid.js"
import { GitRemote, type GitRemoteService } from "../../../src/store/remote/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/remote/github/GitHub.js"
import type { MemoryFaults } from "../../../src/store/remote/memory/MemoryFaults.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import { type OnTouch, withFaults } from "../../../src/testing/program/FaultyRemote.js"
import type { StorePair } from "../../store/operations/StorePair.js"
import type { Seen } from "./Oracle.js"
import { fresh, remoteOf } from "./Remote.js"

const points = { before: "start", building: "built", after: "moved" } as const

/** Injects the faults of writes of the tests in memory around the calls of any remote. */
const touchOf =
  (faults: MemoryFaults | undefined): OnTouch =>
  ({ operation, point, writes }) =>
    writes && faults?.onWrite !== undefined
      ? Effect.mapError(faults.onWrite(operation, points[point], "main"), (error) =>
          // After a write every failure means that its reply was lost.
          error._tag === "AmbiguousWriteError" || error._tag === "RefMoved"
            ? new RemoteError({ operation, reason: "Unreachable", message: error.message })
            : error
        )
      : Effect.void

/** Returns the operation of a request that moves a branch: the end of a transaction makes no commit before it. */
const movers = () => {
  let before = ""
  return ({ body, method, url }: Seen) => {
    if (method === "GET" || (url === "/graphql" && !body.includes('"mutation '))) return undefined
    const last = before
    before = `${method} ${url}`
    if (method === "POST" && url !== "/graphql") return undefined
    return body.includes("updateRefs") || (method === "PATCH" && !last.endsWith("/git/commits"))
      ? "advance"
      : "commitNext"
  }
}

/** Makes the store pairs of the operations' suites on GitHub's API: each pair has its own repository with two clients. */
export const storePairsOnGitHub = (options: Partial<GitHubOptions>) => {
  const scope = Effect.runSync(Scope.make())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return (settings: StoreOptions, faults?: MemoryFaults): Effect.Effect<StorePair, unknown> =>
    Effect.gen(function* () {
      const { remote, server } = yield* Scope.extend(fresh({ ...options, userAgent: "first" }), scope)
      const moving = movers()
      const run = Runtime.runPromise(yield* Effect.runtime<never>())
      server.arrives = (seen) => {
        const operation = seen.headers["user-agent"] === "first" ? moving(seen) : undefined
        if (operation === undefined || faults?.onWrite === undefined) return undefined
        return run(Effect.orDie(faults.onWrite(operation, "moving", "main")))
      }
      const open = (client: GitRemoteService) =>
        Effect.provideService(Store.make(settings), GitRemote, client)
      const other = yield* open(yield* remoteOf(server, options))
      const store = yield* open(withFaults(remote, touchOf(faults)))
      const objects = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype)"]
      const repository: StorePair["repository"] = {
        blobs: () => server.git(objects).split("blob").length - 1,
        merge: (tree, parents) => {
          const named = parents.flatMap((parent) => ["-p", parent])
          const who = ["-c", "user.name=M", "-c", "user.email=m@example.org"]
          const made = server.git([...who, "commit-tree", tree, ...named, "-m", "merge"]).trim() as Oid
          server.setRef("refs/heads/main", made)
          return made
        }
      }
      return { repository, remote, store, other }
    })
}
