import { Effect } from "effect"

/** The turns of the event loop that timers get while an effect runs. */
export const turnsDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    return Effect.map(
      Effect.ensuring(
        effect,
        Effect.sync(() => clearInterval(timer))
      ),
      () => turns
    )
  })
