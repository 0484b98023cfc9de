import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** A clock that stands still until a step moves it, so that durations are exact. */
export class ChainClock {
  private nanos = 3_600_000_000_000n
  /** With `wakes`, what sleeps wakes at once; else it sleeps as long as it would. */
  constructor(private readonly wakes = false) {}

  /** How long each sleep was meant to take. */
  readonly sleeps: Array<number> = []

  pass(millis: number) {
    this.nanos += BigInt(Math.round(millis * 1e6))
  }

  /** Runs an Effect by this clock. */
  readonly run = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const nanos = () => this.nanos
    const millis = () => Number(this.nanos / 1_000_000n)
    const real = Clock.make()
    const clock: Clock.Clock = Object.assign(Object.create(real), {
      unsafeCurrentTimeMillis: millis,
      unsafeCurrentTimeNanos: nanos,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanos: Effect.sync(nanos),
      sleep: (duration: { readonly value: { readonly millis?: number } }) => {
        this.sleeps.push(duration.value.millis ?? Number.NaN)
        return this.wakes ? Effect.yieldNow() : real.sleep(duration as never)
      }
    })
    return Effect.withClock(effect, clock)
  }
}
