import { Effect, Option, Scope } from "effect"
import type { GitRemoteService, RemoteFailure } from "../store/remote/GitRemote.js"
import * as Memory from "../store/remote/memory/Memory.js"

/**
 * The remote over a repository that its first commit creates. Until then it reads as an empty repository. Each commit is
 * tried in memory before the repository exists, so that a write that fails leaves nothing.
 */
export const make = (
  name: string,
  repo: string,
  create: Effect.Effect<GitRemoteService, RemoteFailure, Scope.Scope>
): Effect.Effect<GitRemoteService, RemoteFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const memory = yield* Memory.make()
    let current = memory
    const created = yield* Effect.cached(
      Effect.tap(Scope.extend(create, scope), (remote) =>
        Effect.sync(() => {
          current = remote
        })
      )
    )
    const own: Pick<GitRemoteService, "name" | "repo" | "commit" | "commitNext"> = {
      name,
      repo,
      commit: (...given) =>
        Effect.suspend(() =>
          current === memory
            ? Effect.zipRight(
                memory.commit(...given),
                Effect.flatMap(created, (remote) => remote.commit(...given))
              )
            : current.commit(...given)
        ),
      commitNext: (branch, edit) =>
        Effect.suspend(() => {
          if (current !== memory) return current.commitNext(branch, edit)
          const attempt = memory.commitNext(branch, (snapshot) =>
            Effect.map(edit(snapshot), ({ commit, result }) => ({ commit, result }))
          )
          return Effect.flatMap(attempt, (done) =>
            Option.isNone(done.committed)
              ? Effect.succeed(done)
              : Effect.flatMap(created, (remote) => remote.commitNext(branch, edit))
          )
        })
    }
    // The methods change with the repository, also those that only one of the two has.
    return new Proxy(memory, {
      get: (_, key) => (key in own ? Reflect.get(own, key) : Reflect.get(current, key))
    })
  })
