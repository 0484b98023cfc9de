import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { LruCache } from "../../domain/runtime/LruCache.js"
import * as Monotonic from "../../domain/time/MonotonicClock.js"

/** Repositories whose pushes are remembered. */
const mostRepositories = 1_024

/** When the next push to a repository may begin. */
export interface PushPace {
  /** Waits until a push may begin, and takes that place. */
  readonly place: Effect.Effect<void>
  /** A push begins, whether it has waited or not. */
  readonly began: Effect.Effect<void>
}

const makePaces = () => {
  const next = new LruCache<number>(mostRepositories)
  return (url: string, interval: Duration.Duration): PushPace => {
    const name = url.toLowerCase()
    const take = (now: number) => Effect.sync(() => void next.set(name, now + Duration.toMillis(interval)))
    const place: Effect.Effect<void> = Effect.flatMap(Monotonic.millis, (now) => {
      const wait = (next.get(name) ?? 0) - now
      return wait <= 0 ? take(now) : Effect.zipRight(Effect.sleep(wait), place)
    })
    return { place, began: Effect.flatMap(Monotonic.millis, take) }
  }
}

/** The interval between pushes counts for each repository: every clone of a process shares it. */
export class PushPaces extends Context.Reference<PushPaces>()("chainstore/git/clone/PushPaces", {
  defaultValue: makePaces
}) {}
