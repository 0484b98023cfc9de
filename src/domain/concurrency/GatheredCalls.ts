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
   * Runs an effect that may end in `call`: calls wait for its keys, until it runs the effect that it is given, or ends, or has
   * taken `maxWaitMillis`.
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
 * Runs one call for the keys of several concurrent callers: keys are gathered until the calls that ran and the callers that
 * were announced before have ended, or only from the callers of one moment if there are none. If the caller that runs a call is
 * interrupted, the others of its group begin again.
 */
export const makeGatheredCalls = <K, A, E>({
  maxSize,
  maxWaitMillis,
  run
}: GatheredCallsOptions<K, A, E>): GatheredCalls<K, A, E> => {
  /** The group that more keys may join. */
  let gathering: Group<K, A, E> | undefined
  /** The running calls and the announced callers, each with the time after which it is no longer awaited. */
  const awaited = new Map<object, number>()
  /** Told of each that has ended. */
  const waiting = new Set<(ended: object) => void>()

  const end = (one: object) =>
    Effect.sync(() => {
      if (awaited.delete(one)) for (const tell of waiting) tell(one)
    })

  /** Waits for those that are awaited now: others may come without end. */
  const waitForOthers = Effect.async<void>((resume) => {
    const now = performance.now()
    const ahead = new Set<object>()
    for (const [one, until] of awaited) if (now < until) ahead.add(one)
    const stop = () => {
      clearTimeout(timer)
      waiting.delete(tell)
      resume(Effect.void)
    }
    const tell = (ended: object) => {
      if (ahead.delete(ended) && ahead.size === 0) stop()
    }
    // A clock that a test sets does not move while a server replies.
    const timer = setTimeout(stop, ahead.size === 0 ? 0 : maxWaitMillis)
    waiting.add(tell)
    return Effect.sync(stop)
  })

  const begin = (group: Group<K, A, E>) =>
    Effect.sync(() => {
      if (gathering === group) gathering = undefined
      awaited.set(group, Number.POSITIVE_INFINITY)
    })
  const runGroup = (group: Group<K, A, E>) =>
    Effect.acquireUseRelease(
      begin(group),
      () => run([...group.keys]),
      () => end(group)
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
      return Effect.onExit(restore(Effect.zipRight(waitForOthers, runGroup(group))), (exit) => {
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
          const announced = {}
          awaited.set(announced, performance.now() + maxWaitMillis)
          return end(announced)
        }),
        effect,
        (withdraw) => withdraw
      )
  }
}
