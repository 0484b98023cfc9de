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
  /** The longest time that a call waits for running calls and announced callers, and meanwhile for more keys. */
  readonly maxWaitMillis: number
}

export interface GatheredCalls<K, A, E> {
  /** Returns the result of a call for these keys, and for those of other callers. */
  readonly call: (keys: ReadonlyArray<K>) => Effect.Effect<A, E>
  /**
   * Runs an effect that may end in `call`: calls wait for its keys, until it runs the effect that it is given, or ends.
   */
  readonly announce: <B, E2, R>(
    effect: (withdraw: Effect.Effect<void>) => Effect.Effect<B, E2, R>
  ) => Effect.Effect<B, E2, R>
}

interface Group<K, A, E> {
  readonly keys: Set<K>
  /** None if the caller that runs the call is interrupted. */
  readonly result: Deferred.Deferred<Option.Option<Exit.Exit<A, E>>>
}

/**
 * Runs one call for the keys of several concurrent callers: keys are gathered while another call runs or callers are announced.
 * Otherwise a caller waits only for those of the same moment. If the caller that runs a call is interrupted, the others of its
 * group begin again.
 */
export const makeGatheredCalls = <K, A, E>({
  maxSize,
  maxWaitMillis,
  run
}: GatheredCallsOptions<K, A, E>): GatheredCalls<K, A, E> => {
  /** The group that more keys may join. */
  let gathering: Group<K, A, E> | undefined
  /** The numbers of running calls and of announced callers. */
  let awaited = 0
  /** Callers that wait until nothing is awaited. */
  const waiting = new Set<() => void>()

  const increment = () => {
    awaited++
  }
  const decrement = () => {
    awaited--
    if (awaited === 0) for (const stop of waiting) stop()
  }

  const waitUntilIdle = Effect.async<void>((resume) => {
    const stop = () => {
      clearTimeout(timer)
      waiting.delete(stop)
      resume(Effect.void)
    }
    // A clock that a test sets does not move while a server replies.
    const timer = setTimeout(stop, awaited === 0 ? 0 : maxWaitMillis)
    waiting.add(stop)
    return Effect.sync(stop)
  })

  const begin = (group: Group<K, A, E>) =>
    Effect.sync(() => {
      if (gathering === group) gathering = undefined
      increment()
    })
  const runGroup = (group: Group<K, A, E>) =>
    Effect.acquireUseRelease(
      begin(group),
      () => run([...group.keys]),
      () => Effect.sync(decrement)
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

  return {
    call,
    announce: (effect) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          increment()
          let isAnnounced = true
          return Effect.sync(() => {
            if (isAnnounced) decrement()
            isAnnounced = false
          })
        }),
        effect,
        (withdraw) => withdraw
      )
  }
}
