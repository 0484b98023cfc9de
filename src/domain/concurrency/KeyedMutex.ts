import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"

/** One mutex per key. Waiting fibers acquire it in the order in which they asked. */
export interface KeyedMutex {
  /**
   * Runs an effect while no other fiber runs one under the same key. Reentrant: an effect inside it that asks for the
   * same key runs at once, also in a fiber that it started, until it ends.
   */
  readonly withLock: (key: string) => <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** How many keys a fiber holds or waits for. A key that is in no use takes no memory. */
  readonly size: () => number
}

/** One acquisition of a key. It is open when the key is held. */
type Turn = Effect.Latch

/** The turns of one key, in order. The first one holds it. */
type Queue = Set<Turn>

/** A semaphore of Effect would let a fiber that asks between a release and the next acquisition pass those that wait. */
export const makeKeyedMutex = (): KeyedMutex => {
  const queues = new Map<string, Queue>()
  /** The turns in which the fiber runs. One that joins another fiber does not get its turns. */
  const ownTurns = FiberRef.unsafeMake<ReadonlySet<Turn | undefined>>(new Set(), { join: (own) => own })

  const admitFirst = (key: string, queue: Queue) => {
    const [first] = queue
    if (first === undefined) queues.delete(key)
    else first.unsafeOpen()
  }

  const enqueue = (key: string) =>
    Effect.sync(() => {
      const turn = Effect.unsafeMakeLatch()
      const queue = queues.get(key) ?? new Set()
      queues.set(key, queue.add(turn))
      admitFirst(key, queue)
      return { queue, turn }
    })

  return {
    size: () => queues.size,
    withLock: (key) => (self) =>
      Effect.flatMap(FiberRef.get(ownTurns), (own) => {
        const [holder] = queues.get(key) ?? []
        if (own.has(holder)) return self
        return Effect.acquireUseRelease(
          enqueue(key),
          ({ turn }) => Effect.zipRight(turn.await, Effect.locally(self, ownTurns, new Set([...own, turn]))),
          ({ queue, turn }) =>
            Effect.sync(() => {
              queue.delete(turn)
              admitFirst(key, queue)
            })
        )
      })
  }
}
