import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as GitCommand from "./GitCommand.js"

const mutexes = new WeakMap<GitRepository, Effect.Semaphore>()

/** Runs the creation of a first branch. Of two concurrent creations, the second one runs after the first. */
export const exclusively = <A, E, R>(
  git: GitRepository,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const mutex = mutexes.get(git) ?? Effect.unsafeMakeSemaphore(1)
    mutexes.set(git, mutex)
    return mutex.withPermits(1)(effect)
  })

/**
 * If HEAD names a missing branch, the first existing branch becomes the default branch, as on GitHub. Must run in
 * `exclusively`.
 */
export const makeDefault = (git: GitRepository): Effect.Effect<void, HostError | RemoteError> =>
  Effect.gen(function* () {
    const named = yield* git.ref(`refs/heads/${yield* git.defaultBranch}`)
    if (Option.isSome(named)) return
    const [first] = yield* git.refs("refs/heads/")
    if (first === undefined) return
    // A failure is only logged, because the branch was already created.
    yield* Effect.catchAll(GitCommand.text(git, ["symbolic-ref", "HEAD", first.name]), (error) =>
      Effect.logWarning(`${first.name} could not be set as the default branch`, error)
    )
  })
