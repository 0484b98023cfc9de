import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** One at a time for each name, first come first served. A fiber that has the name's turn does not wait for itself. */
export interface Exclusively {
  (name: string): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many turns have begun and ended so far, of whichever name. */
  readonly turns: Effect.Effect<{ readonly begun: number; readonly ended: number }>
}

/** The name of a branch's mutex, or of that of one file of the branch. */
export const fileOf = (branch: string, path?: string): string =>
  path === undefined ? branch : `${branch}\0${path}`

/** A mutex for each name; one that nobody waits for is forgotten. */
export const makeExclusively = (): Exclusively => {
  const waiting = new Map<string, { readonly semaphore: Effect.Semaphore; count: number }>()
  const held = FiberRef.unsafeMake<ReadonlySet<string>>(new Set())
  let begun = 0
  let ended = 0
  const counted = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      begun++
      return Effect.ensuring(
        self,
        Effect.sync(() => {
          ended++
        })
      )
    })
  const exclusively =
    (name: string) =>
    <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(FiberRef.get(held), (names) => {
        if (names.has(name)) return self
        const mutex = waiting.get(name) ?? { semaphore: Effect.unsafeMakeSemaphore(1), count: 0 }
        waiting.set(name, mutex)
        mutex.count++
        return mutex.semaphore
          .withPermits(1)(counted(Effect.locally(self, held, new Set([...names, name]))))
          .pipe(
            Effect.ensuring(
              Effect.sync(() => {
                mutex.count--
                if (mutex.count === 0) waiting.delete(name)
              })
            )
          )
      })
  return Object.assign(exclusively, { turns: Effect.sync(() => ({ begun, ended })) })
}
