import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"

/** The largest number of repositories whose last push is remembered. */
const maxRepositories = 1_024

/** Keeps an interval between the pushes to one repository. */
export interface PushThrottle {
  /**
   * Waits until the next push may begin, and records that it begins. Pushes that others record meanwhile do not prolong the
   * wait, because they may follow each other without end.
   */
  readonly acquire: Effect.Effect<void>
  /** Records that the acquired push begins now: its pack was built after `acquire`. */
  readonly recordAcquiredPush: Effect.Effect<void>
  /** Records that a push begins, without waiting. */
  readonly recordPush: Effect.Effect<void>
}

const makeThrottles = () => {
  /** The ends of the intervals after the last acquired push and after the last one that did not wait. */
  const afterAcquired = new LruCache<number>(maxRepositories)
  const afterRecorded = new LruCache<number>(maxRepositories)
  return (url: string, interval: Duration.Duration): PushThrottle => {
    const key = url.toLowerCase()
    const startInterval = (ends: LruCache<number>) => (now: number) =>
      Effect.sync(() => void ends.set(key, now + Duration.toMillis(interval)))
    const acquireAfter = (earliest: number): Effect.Effect<void> =>
      Effect.flatMap(Monotonic.millis, (now) => {
        const wait = Math.max(earliest, afterAcquired.get(key) ?? 0) - now
        return wait <= 0
          ? startInterval(afterAcquired)(now)
          : Effect.zipRight(Effect.sleep(wait), acquireAfter(earliest))
      })
    return {
      acquire: Effect.suspend(() => acquireAfter(afterRecorded.get(key) ?? 0)),
      recordAcquiredPush: Effect.flatMap(Monotonic.millis, startInterval(afterAcquired)),
      recordPush: Effect.flatMap(Monotonic.millis, startInterval(afterRecorded))
    }
  }
}

/** One throttle for each repository, shared by all clones of this process. */
export class PushThrottles extends Context.Reference<PushThrottles>()("chainstore/git/clone/PushThrottles", {
  defaultValue: makeThrottles
}) {}
