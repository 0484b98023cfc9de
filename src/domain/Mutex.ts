import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** One at a time for each name, first come first served. A fiber that has the name's turn does not wait for itself. */
export type Exclusively = (name: string) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A mutex for each name; one that nobody waits for is forgotten. */
export const makeExclusively = (): Exclusively => {
  const waiting = new Map<string, { readonly semaphore: Effect.Semaphore; count: number }>()
  const held = FiberRef.unsafeMake<ReadonlySet<string>>(new Set())
  return (name) => (self) =>
    Effect.flatMap(FiberRef.get(held), (names) => {
      if (names.has(name)) return self
      const mutex = waiting.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), count: 0 }
      waiting.set(name, mutex)
      mutex.count++
      return mutex.semaphore
        .withPermits(1)(Effect.locally(self, held, new Set([...names, name])))
        .pipe(
          Effect.ensuring(
            Effect.sync(() => {
              mutex.count--
              if (mutex.count === 0) waiting.delete(name)
            })
          )
        )
    })
}
