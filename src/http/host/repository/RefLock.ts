import { Effect } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"

/** Reads a ref, checks it and moves it with the given `updateRef`. */
export type RefAttempt<A, E, R> = (
  updateRef: GitRepository["updateRef"]
) => Effect.Effect<A, E | RefMoved | RemoteError, R>

const isMoved = (error: unknown): error is RefMoved => error instanceof RefMoved

/** The number of retries when another process moves the ref. */
const maxRetries = 5

/** Runs an attempt while the lock on the ref is held. Only other processes can then move the ref. */
export const withLock = <A, E, R>(
  git: GitRepository,
  name: string,
  attempt: RefAttempt<A, E, R>
): Effect.Effect<A, E | RefMoved | RemoteError, R> =>
  Effect.retry(git.withRefMutex(name, attempt), { times: maxRetries, while: isMoved })

const optimisticRetries = 1

/**
 * Runs an attempt that may take long: first without the lock, so that it does not block others, and then with the
 * lock if it loses the race. On a busy branch it would otherwise lose every race.
 */
export const optimistic = <A, E, R>(
  git: GitRepository,
  name: string,
  attempt: RefAttempt<A, E, R>
): Effect.Effect<A, E | RefMoved | RemoteError, R> =>
  Effect.retry(attempt(git.updateRef), { times: optimisticRetries, while: isMoved }).pipe(
    Effect.catchIf(isMoved, () => withLock(git, name, attempt))
  )
