import * as Effect from "effect/Effect"

/** Waiting for a condition over state that is told of its changes. */
export const make = () => {
  const listeners = new Set<() => void>()

  return {
    /** Lets everybody who waits look again. */
    notifyAll: (): void => {
      for (const listener of [...listeners]) listener()
    },

    /** Waits until `holds`, looked at whenever something changed; at most `millis` after the last change. */
    waitUntil: (holds: () => boolean, millis = Number.POSITIVE_INFINITY): Effect.Effect<void> =>
      Effect.async<void>((resume) => {
        if (holds()) return resume(Effect.void)
        let timer: NodeJS.Timeout | undefined
        const stop = () => {
          clearTimeout(timer)
          listeners.delete(look)
        }
        const finish = () => {
          stop()
          resume(Effect.void)
        }
        const wait = () => {
          clearTimeout(timer)
          if (millis !== Number.POSITIVE_INFINITY) timer = setTimeout(finish, millis)
        }
        const look = () => (holds() ? finish() : wait())
        listeners.add(look)
        wait()
        return Effect.sync(stop)
      })
  } as const
}
