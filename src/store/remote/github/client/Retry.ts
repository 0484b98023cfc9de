import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type { AuthError } from "../../../../domain/errors/StoreError.js"
import { type ApiFailure, isLimit, isTransient } from "./ApiFailure.js"
import { timeLeft } from "./OperationContext.js"
import type { Settings } from "./Options.js"

/** What a host that limits us without a word wants at least; doubled each time. */
const silentLimit = 60_000

/** Milliseconds that a failure asks to wait before try number `attempt` (from 0), before any jitter. */
export const advisedDelay = (
  failure: ApiFailure,
  attempt: number,
  backoffFactor: Duration.Duration
): number =>
  isLimit(failure)
    ? (failure.retryAfter ?? silentLimit * 2 ** attempt)
    : Duration.toMillis(backoffFactor) * 2 ** attempt

/** Advice that is longer than anybody wants to wait. */
const isTooLong = (failure: ApiFailure, delay: number, maxWait: Duration.Duration) =>
  (isLimit(failure) ? delay : (failure.retryAfter ?? 0)) > Duration.toMillis(maxWait)

/** Waiting a share of the delay: full jitter. */
const fullJitter = (delay: number) => Effect.map(Random.next, (share) => delay * share)

/**
 * After a limit, as long as the host asks and never less (a minute and growing when it says nothing); after a
 * failure of host or connection, exponential backoff with full jitter, and as long as the host asks where it does;
 * `maxRetries` times at most. Advice beyond `maxWait`, or beyond what the operation has left, ends it at once.
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
 * Before a write whose reply was lost is sent again: `delay`, or as long as the host asks; false when there is no time left,
 * or the host asks for more than anybody wants to wait.
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

/** Another writer of the same branch was faster: soon again, a little later each time, each loser at its own moment. */
export const afterRace: Schedule.Schedule<unknown> = Schedule.exponential("50 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.modifyDelayEffect((_, delay) => Effect.map(fullJitter(Duration.toMillis(delay)), Duration.millis))
)

/** A token made a moment ago may be unknown to some of the host's machines: 1, 2 and 4 seconds. */
export const freshToken: Schedule.Schedule<unknown> = Schedule.exponential("1 second").pipe(
  Schedule.intersect(Schedule.recurs(3))
)

/** An answer older than what we know: a replica is behind, for ten seconds or so (12 to 25 are waited). */
export const whileReplicaLags: Schedule.Schedule<unknown> = Schedule.exponential("100 millis").pipe(
  Schedule.union(Schedule.spaced("2 seconds")),
  Schedule.intersect(Schedule.recurs(16)),
  Schedule.modifyDelayEffect((_, delay) =>
    Effect.map(Random.next, (share) => Duration.times(delay, 0.5 + share / 2))
  )
)

/** The same where nothing was lost, and a lag would hide one delivery of a request that was delivered twice: 6 seconds. */
export const whileReplicaLagsBriefly: Schedule.Schedule<unknown> = Schedule.exponential("100 millis").pipe(
  Schedule.intersect(Schedule.recurs(6))
)

/** Asks again while the answer is one that only a machine behind the others can give. */
export const retryStaleReply = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  isBehind: (error: E) => boolean
): Effect.Effect<A, E, R> => Effect.retry(self, { schedule: whileReplicaLags, while: isBehind })
