import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"

/** The largest number of repositories whose last push is remembered. */
const maxRepositories = 1_024

/** Keeps an interval between the pushes to one repository. */
export interface PushThrottle {
  /** Waits until the next push may begin, and records that it begins. */
  readonly acquire: Effect.Effect<void>
  /** Records that a push begins, without waiting. */
  readonly recordPush: Effect.Effect<void>
}

const makeThrottles = () => {
  const nextAllowed = new LruCache<number>(maxRepositories)
  return (url: string, interval: Duration.Duration): PushThrottle => {
    const key = url.toLowerCase()
    const record = (now: number) =>
      Effect.sync(() => void nextAllowed.set(key, now + Duration.toMillis(interval)))
    const acquire: Effect.Effect<void> = Effect.flatMap(Monotonic.millis, (now) => {
      const wait = (nextAllowed.get(key) ?? 0) - now
      return wait <= 0 ? record(now) : Effect.zipRight(Effect.sleep(wait), acquire)
    })
    return { acquire, recordPush: Effect.flatMap(Monotonic.millis, record) }
  }
}

/** One throttle for each repository, shared by all clones of this process. */
export class PushThrottles extends Context.Reference<PushThrottles>()("chainstore/git/clone/PushThrottles", {
  defaultValue: makeThrottles
}) {}
