import * as Effect from "effect/Effect"

/** A condition variable: fibers wait until a predicate over shared state is true. */
export const make = () => {
  const listeners = new Set<() => void>()

  return {
    /** Makes all waiting fibers evaluate their predicates again. Called after each change of the state. */
    notifyAll: (): void => {
      for (const listener of [...listeners]) listener()
    },

    /**
     * Waits until `holds` returns true, or until `millis` have passed since the last change. With `progress`, only a change of
     * its result counts.
     */
    waitUntil: (
      holds: () => boolean,
      millis = Number.POSITIVE_INFINITY,
      progress: () => unknown = Symbol
    ): Effect.Effect<void> =>
      Effect.async<void>((resume) => {
        if (holds()) return resume(Effect.void)
        let seen = progress()
        let timer: NodeJS.Timeout | undefined
        const stop = () => {
          clearTimeout(timer)
          listeners.delete(evaluate)
        }
        const finish = () => {
          stop()
          resume(Effect.void)
        }
        const wait = () => {
          clearTimeout(timer)
          if (millis !== Number.POSITIVE_INFINITY) timer = setTimeout(finish, millis)
        }
        const evaluate = () => {
          if (holds()) return finish()
          const now = progress()
          if (now === seen) return
          seen = now
          wait()
        }
        listeners.add(evaluate)
        wait()
        return Effect.sync(stop)
      })
  } as const
}

export type Condition = ReturnType<typeof make>
