import { afterAll } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { GitRemote, type GitRemoteService } from "../../../src/store/GitRemote.js"
import type { GitHubOptions } from "../../../src/store/github/GitHub.js"
import * as Store from "../../../src/store/Store.js"
import type { StoreOptions } from "../../../src/store/StoreOptions.js"
import type { World } from "../../store/operations/Support.js"
import { fresh, remoteOf } from "./Remote.js"

/** Worlds of the operations' suites behind a socket: each is a repository of its own with two clients. */
export const worldsOnGitHub = (options: Partial<GitHubOptions>) => {
  const scope = Effect.runSync(Scope.make())
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return (settings: StoreOptions): Effect.Effect<World, unknown> =>
    Effect.gen(function* () {
      const { remote, server } = yield* Scope.extend(fresh(options), scope)
      const open = (client: GitRemoteService) =>
        Effect.provideService(Store.make(settings), GitRemote, client)
      const other = yield* open(yield* remoteOf(server, options))
      return { repository: server.host.repository, remote, store: yield* open(remote), other }
    })
}
