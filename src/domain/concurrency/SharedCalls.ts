import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"

/**
 * Runs a call, or waits for the result of the call that already runs under the same key. If that call is interrupted, one of
 * its waiters runs its own.
 */
export type SharedCalls<A, E> = (key: string, call: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Unlike `Cache` of Effect, the interruption of one caller does not interrupt the others. */
export const makeSharedCalls = <A, E>(): SharedCalls<A, E> => {
  /** The calls that run. The result of an interrupted call is None. */
  const running = new Map<string, Deferred.Deferred<Option.Option<Exit.Exit<A, E>>>>()

  const share: SharedCalls<A, E> = (key, call) =>
    Effect.uninterruptibleMask((restore) => {
      const current = running.get(key)
      if (current !== undefined) {
        return Effect.flatMap(
          restore(Deferred.await(current)),
          Option.getOrElse(() => restore(share(key, call)))
        )
      }
      const result = Deferred.unsafeMake<Option.Option<Exit.Exit<A, E>>>(FiberId.none)
      running.set(key, result)
      return Effect.onExit(restore(call), (exit) => {
        running.delete(key)
        const isInterrupted = Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
        return Deferred.succeed(result, isInterrupted ? Option.none() : Option.some(exit))
      })
    })
  return share
}

/** Calls that share results, but no failures. `onShared` is called if the result is that of another caller. */
export type SharedResults<A, E> = (
  key: string,
  call: Effect.Effect<A, E>,
  onShared?: () => void
) => Effect.Effect<A, E>

/** The call of another caller may fail by its timeout although a new one would succeed, so a waiter runs its own then. */
export const makeSharedResults = <A, E>(): SharedResults<A, E> => {
  const share = makeSharedCalls<A, E>()
  return (key, call, onShared) =>
    Effect.suspend(() => {
      let isOwn = false
      const own = Effect.suspend(() => {
        isOwn = true
        return call
      })
      return Effect.matchEffect(share(key, own), {
        onFailure: (error) => (isOwn ? Effect.fail(error) : call),
        onSuccess: (result) => {
          if (!isOwn) onShared?.()
          return Effect.succeed(result)
        }
      })
    })
}
