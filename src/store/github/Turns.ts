import * as Effect from "effect/Effect"

/** One at a time for each name, in the order of asking; a name that nobody waits for is forgotten. */
export const makeTurns = () => {
  const turns = new Map<string, { readonly semaphore: Effect.Semaphore; waiting: number }>()
  return (name: string) =>
    <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const turn = turns.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), waiting: 0 }
        turns.set(name, turn)
        turn.waiting++
        return turn.semaphore
          .withPermits(1)(self)
          .pipe(
            Effect.ensuring(
              Effect.sync(() => {
                turn.waiting--
                if (turn.waiting === 0) turns.delete(name)
              })
            )
          )
      })
}
