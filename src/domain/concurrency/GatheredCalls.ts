import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"

export interface GatheredCallsOptions<K, A, E> {
  /** Runs one call for the keys of several callers. */
  readonly run: (keys: ReadonlyArray<K>) => Effect.Effect<A, E>
  /** No more keys join a call that has as many. */
  readonly maxSize: number
  /** The longest time that a call waits for the end of running ones, and meanwhile for more keys. */
  readonly maxWaitMillis: number
}

interface Group<K, A, E> {
  readonly keys: Set<K>
  /** None if the caller that runs the call is interrupted. */
  readonly result: Deferred.Deferred<Option.Option<Exit.Exit<A, E>>>
}

/**
 * Runs one call for the keys of several concurrent callers: keys are gathered while another call runs. If no call runs, a caller
 * does not wait. If the caller that runs a call is interrupted, the others of its group begin again.
 */
export const makeGatheredCalls = <K, A, E>({
  maxSize,
  maxWaitMillis,
  run
}: GatheredCallsOptions<K, A, E>) => {
  /** The group that more keys may join. */
  let gathering: Group<K, A, E> | undefined
  let running = 0
  /** Callers that wait until no call runs. */
  const waiting = new Set<() => void>()

  const waitUntilIdle = Effect.async<void>((resume) => {
    if (running === 0) return resume(Effect.void)
    const stop = () => {
      clearTimeout(timer)
      waiting.delete(stop)
      resume(Effect.void)
    }
    // A clock that a test sets does not move while a server replies.
    const timer = setTimeout(stop, maxWaitMillis)
    waiting.add(stop)
    return Effect.sync(stop)
  })

  const begin = (group: Group<K, A, E>) =>
    Effect.sync(() => {
      if (gathering === group) gathering = undefined
      running++
    })
  const end = Effect.sync(() => {
    running--
    if (running === 0) for (const stop of waiting) stop()
  })
  const runGroup = (group: Group<K, A, E>) =>
    Effect.acquireUseRelease(
      begin(group),
      () => run([...group.keys]),
      () => end
    )

  const call = (keys: ReadonlyArray<K>): Effect.Effect<A, E> =>
    Effect.uninterruptibleMask((restore) => {
      if (gathering !== undefined && gathering.keys.size < maxSize) {
        for (const key of keys) gathering.keys.add(key)
        return Effect.flatMap(
          restore(Deferred.await(gathering.result)),
          Option.getOrElse(() => restore(call(keys)))
        )
      }
      const group: Group<K, A, E> = { keys: new Set(keys), result: Deferred.unsafeMake(FiberId.none) }
      gathering = group
      return Effect.onExit(restore(Effect.zipRight(waitUntilIdle, runGroup(group))), (exit) => {
        if (gathering === group) gathering = undefined
        const isInterrupted = Exit.isFailure(exit) && Cause.isInterrupted(exit.cause)
        return Deferred.succeed(group.result, isInterrupted ? Option.none() : Option.some(exit))
      })
    })
  return call
}
