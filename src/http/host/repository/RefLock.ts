import { Effect } from "effect"
import { RefMoved } from "../../../domain/errors/RefMoved.js"
import type { RemoteError } from "../../../domain/errors/StoreError.js"
import type { GitRepository } from "../../../git/disk/port/GitRepository.js"

/** What reads a ref, judges it, and moves it by the `updateRef` that it is given. */
export type RefAttempt<A, E, R> = (
  updateRef: GitRepository["updateRef"]
) => Effect.Effect<A, E | RefMoved | RemoteError, R>

const isMoved = (error: unknown): error is RefMoved => error instanceof RefMoved

/** How often other processes may move a ref in between before a request gives up. */
const maxRetries = 5

/** Runs an attempt in the turn of the ref's writers, where only other processes can move it in between. */
export const withLock = <A, E, R>(
  git: GitRepository,
  name: string,
  attempt: RefAttempt<A, E, R>
): Effect.Effect<A, E | RefMoved | RemoteError, R> =>
  Effect.retry(git.withRefMutex(name, attempt), { times: maxRetries, while: isMoved })

const optimisticRetries = 1

/**
 * The same for an attempt that may take long: it holds nobody up as long as it wins the race without the turn. On a branch
 * that is written all the time it would lose every one.
 */
export const optimistic = <A, E, R>(
  git: GitRepository,
  name: string,
  attempt: RefAttempt<A, E, R>
): Effect.Effect<A, E | RefMoved | RemoteError, R> =>
  Effect.retry(attempt(git.updateRef), { times: optimisticRetries, while: isMoved }).pipe(
    Effect.catchIf(isMoved, () => withLock(git, name, attempt))
  )
