import { Effect, type Scope } from "effect"

const mebibyte = 1024 * 1024

/** Memory for what is large: who needs much waits until others are done, and what is small is not counted. */
export interface MemoryBudget {
  /** Takes its part for as long as `effect` runs. */
  readonly withMemory: <A, E, R>(bytes: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Takes its part until the scope closes, which for an answer is when it was sent. */
  readonly reserve: (bytes: number) => Effect.Effect<void, never, Scope.Scope>
}

export const make = (most: number): Effect.Effect<MemoryBudget> => {
  const permits = Math.max(1, Math.ceil(most / mebibyte))
  return Effect.map(Effect.makeSemaphore(permits), (memory): MemoryBudget => {
    const wanted = (bytes: number) => Math.min(Math.ceil(bytes / mebibyte), permits)
    return {
      withMemory: (bytes, effect) => (bytes < mebibyte ? effect : memory.withPermits(wanted(bytes))(effect)),
      reserve: (bytes) =>
        bytes < mebibyte
          ? Effect.void
          : Effect.uninterruptibleMask((restore) =>
              Effect.flatMap(restore(memory.take(wanted(bytes))), (taken) =>
                Effect.addFinalizer(() => memory.release(taken))
              )
            )
    }
  })
}
