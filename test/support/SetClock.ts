import { type Clock, Effect } from "effect"

export const hour = 3_600_000

/** The clock of a machine that somebody sets: `within` runs an effect on it, and `set` puts it forward or back. */
export const settableClock = Effect.clockWith((clock) =>
  Effect.sync(() => {
    let shift = 0
    const shifted: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
      unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() + shift,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + shift),
      currentTimeNanos: clock.currentTimeNanos,
      sleep: clock.sleep.bind(clock)
    })
    return {
      set: (milliseconds: number) => {
        shift += milliseconds
      },
      within: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.withClock(effect, shifted)
    }
  })
)

/** Runs an effect at one time. Sleeping takes its time. */
export const at =
  (time: Date) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) =>
      Effect.withClock(
        effect,
        Object.assign(Object.create(clock) as Clock.Clock, {
          unsafeCurrentTimeMillis: () => time.getTime(),
          unsafeCurrentTimeNanos: () => BigInt(time.getTime()) * 1_000_000n,
          currentTimeMillis: Effect.succeed(time.getTime()),
          currentTimeNanos: Effect.succeed(BigInt(time.getTime()) * 1_000_000n),
          sleep: clock.sleep.bind(clock)
        })
      )
    )
