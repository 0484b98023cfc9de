import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import { type ApiFailure, isLimit, isTransient } from "./ApiFailure.js"
import { timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"

/** The first wait for a limit without `Retry-After`; doubled each time. */
const silentLimit = 60_000

/** The delay in milliseconds before retry number `attempt` (from 0), without jitter. */
export const advisedDelay = (
  failure: ApiFailure,
  attempt: number,
  backoffFactor: Duration.Duration
): number =>
  isLimit(failure)
    ? (failure.retryAfter ?? silentLimit * 2 ** attempt)
    : Duration.toMillis(backoffFactor) * 2 ** attempt

/** Whether the requested delay exceeds `maxWait`. */
const isTooLong = (failure: ApiFailure, delay: number, maxWait: Duration.Duration) =>
  (isLimit(failure) ? delay : (failure.retryAfter ?? 0)) > Duration.toMillis(maxWait)

/** A random share of the delay. */
const fullJitter = (delay: number) => Effect.map(Random.next, (share) => delay * share)

/**
 * Retries `maxRetries` times at most. After a limit it waits as long as the host asks, or a minute, doubled each time. After a
 * failure of the host or the connection it waits by exponential backoff with full jitter, or as long as the host asks. It
 * stops if the delay exceeds `maxWait` or the deadline of the operation.
 */
export const politely = (
  settings: Pick<Settings, "maxRetries" | "backoffFactor" | "maxWait">,
  retryable: (failure: ApiFailure) => boolean = (failure) => isLimit(failure) || isTransient(failure)
): Schedule.Schedule<unknown, ApiFailure | AuthError> =>
  Schedule.identity<ApiFailure | AuthError>().pipe(
    Schedule.intersect(Schedule.recurs(settings.maxRetries)),
    Schedule.whileOutputEffect(([failure, attempt]) => {
      if (failure._tag === "AuthError" || !retryable(failure)) return Effect.succeed(false)
      const delay = advisedDelay(failure, attempt, settings.backoffFactor)
      return isTooLong(failure, delay, settings.maxWait)
        ? Effect.succeed(false)
        : Effect.map(timeLeft, (left) => Math.max(delay, failure.retryAfter ?? 0) < left)
    }),
    Schedule.addDelayEffect(([failure, attempt]) => {
      if (failure._tag === "AuthError") return Effect.succeed(0)
      const delay = advisedDelay(failure, attempt, settings.backoffFactor)
      return isLimit(failure)
        ? Effect.succeed(delay)
        : Effect.map(fullJitter(delay), (share) => Math.max(share, failure.retryAfter ?? 0))
    })
  )

/**
 * Waits before a write whose reply was lost is sent again: `delay`, or as long as the host asks. False if that exceeds the
 * deadline or `maxWait`.
 */
export const waitFor = (
  { maxWait }: Pick<Settings, "maxWait">,
  lost: ApiFailure,
  delay: number
): Effect.Effect<boolean> =>
  Effect.flatMap(timeLeft, (left) => {
    const wait = Math.max(delay, lost.retryAfter ?? 0)
    return wait < left && !isTooLong(lost, wait, maxWait)
      ? Effect.as(Effect.sleep(wait), true)
      : Effect.succeed(false)
  })

/** The delays after a race that another writer of the branch won, with full jitter. */
export const afterRace: Schedule.Schedule<unknown> = Schedule.exponential("50 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.modifyDelayEffect((_, delay) => Effect.map(fullJitter(Duration.toMillis(delay)), Duration.millis))
)

/** Replicas may not know a new token yet: 1, 2 and 4 seconds. */
export const freshToken: Schedule.Schedule<unknown> = Schedule.exponential("1 second").pipe(
  Schedule.intersect(Schedule.recurs(3))
)

/** A replica lags, usually for less than ten seconds: 12 to 25 seconds in all. */
export const whileReplicaLags: Schedule.Schedule<unknown> = Schedule.exponential("100 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.intersect(Schedule.recurs(16)),
  Schedule.modifyDelayEffect((_, delay) =>
    Effect.map(Random.next, (share) => Duration.times(delay, 0.5 + share / 2))
  )
)

/** The same if no reply was lost, and a lag could only hide a request that was delivered twice: 6 seconds in all. */
export const whileReplicaLagsBriefly: Schedule.Schedule<unknown> = Schedule.exponential("100 millis").pipe(
  Schedule.intersect(Schedule.recurs(6))
)

/** Retries while only a stale replica can have sent the reply. */
export const retryStaleReply = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  isBehind: (error: E) => boolean
): Effect.Effect<A, E, R> => Effect.retry(self, { schedule: whileReplicaLags, while: isBehind })
