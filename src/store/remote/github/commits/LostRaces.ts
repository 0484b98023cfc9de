import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as MonotonicClock from "../../../../domain/time/MonotonicClock.js"
import type { Head } from "../../GitRemote.js"

/** How long a lost race affects the next attempt, in milliseconds. */
const maxAge = 5_000

/**
 * The races that this process lost, by branch, until the next commit attempt. That attempt assumes nothing about files,
 * and treats the head that was looked up after the race as current: losing on it again is a real conflict.
 */
export interface LostRaces {
  /** `head`: the head that was looked up after the race; none if none was. */
  readonly record: (branch: string, head: Option.Option<Head>) => Effect.Effect<void>
  /** Removes and returns the race that was lost before this attempt; undefined: none was lost lately. */
  readonly take: (branch: string) => Effect.Effect<Option.Option<Head> | undefined>
  readonly headAfter: (branch: string) => Option.Option<Head>
  readonly forget: (branch: string) => void
}

export const makeLostRaces = (): LostRaces => {
  const races = new Map<string, { readonly head: Option.Option<Head>; readonly at: number }>()
  return {
    record: (branch, head) =>
      Effect.map(MonotonicClock.millis, (at) => {
        races.set(branch, { head, at })
      }),
    take: (branch) =>
      Effect.map(MonotonicClock.millis, (now) => {
        const race = races.get(branch)
        races.delete(branch)
        return race !== undefined && now - race.at < maxAge ? race.head : undefined
      }),
    headAfter: (branch) => races.get(branch)?.head ?? Option.none(),
    forget: (branch) => void races.delete(branch)
  }
}
