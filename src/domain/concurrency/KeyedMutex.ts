import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** One mutex per key. Waiting fibers acquire it in the order in which they asked. */
export interface KeyedMutex {
  /**
   * Runs an effect while no other fiber runs one under the same key. Reentrant: an effect inside it that asks for the
   * same key runs at once.
   */
  readonly withLock: (key: string) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many keys a fiber holds or waits for. A key that is in no use takes no memory. */
  readonly size: () => number
}

interface Entry {
  readonly semaphore: Effect.Semaphore
  /** Fibers that hold the key or wait for it. */
  count: number
}

export const makeKeyedMutex = (): KeyedMutex => {
  const entries = new Map<string, Entry>()
  const heldKeys = FiberRef.unsafeMake<ReadonlySet<string>>(new Set())

  const acquire = (key: string) =>
    Effect.sync(() => {
      const entry = entries.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), count: 0 }
      entries.set(key, entry)
      entry.count++
      return entry
    })

  const release = (key: string, entry: Entry) =>
    Effect.sync(() => {
      entry.count--
      if (entry.count === 0) entries.delete(key)
    })

  return {
    size: () => entries.size,
    withLock: (key) => (self) =>
      Effect.flatMap(FiberRef.get(heldKeys), (keys) =>
        keys.has(key)
          ? self
          : Effect.acquireUseRelease(
              acquire(key),
              ({ semaphore }) =>
                semaphore.withPermits(1)(Effect.locally(self, heldKeys, new Set([...keys, key]))),
              (entry) => release(key, entry)
            )
      )
  }
}
