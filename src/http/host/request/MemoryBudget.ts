import { Effect, type Scope } from "effect"

const mebibyte = 1024 * 1024

/**
 * A budget of memory for large bodies. A request waits until its share is available. Bodies below 1 MiB are not
 * counted.
 */
export interface MemoryBudget {
  /** Reserves memory while `effect` runs. */
  readonly withMemory: <A, E, R>(bytes: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Reserves memory until the scope closes, which for a reply is after it is sent. */
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
