import { Effect, Option } from "effect"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"
import type { HostError } from "../reply/HostError.js"
import * as GitCommand from "./GitCommand.js"

const mutexes = new WeakMap<GitRepository, Effect.Semaphore>()

/** Runs what begins a branch that has to be the first: of two at once, the later one sees that it is not. */
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
 * Where HEAD names a branch that is not there, the first one that is becomes the default, as on GitHub. To be run in the
 * writers' turn.
 */
export const makeDefault = (git: GitRepository): Effect.Effect<void, HostError | RemoteError> =>
  Effect.gen(function* () {
    const named = yield* git.ref(`refs/heads/${yield* git.defaultBranch}`)
    if (Option.isSome(named)) return
    const [first] = yield* git.refs("refs/heads/")
    if (first === undefined) return
    // The branch is there by now, and whoever made it must not hear that it is not.
    yield* Effect.catchAll(GitCommand.text(git, ["symbolic-ref", "HEAD", first.name]), (error) =>
      Effect.logWarning(`${first.name} could not be made the default branch`, error)
    )
  })
