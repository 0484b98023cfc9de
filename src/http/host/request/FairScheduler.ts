import { Effect } from "effect"

/** The milliseconds of work after which the event loop may accept connections and read sockets. */
export const sliceMillis = 10

/**
 * Runs requests in order of arrival, in time slices. Node serves all readable sockets before it accepts one more
 * connection: without slices, the last of 64 busy clients waits for seconds.
 */
export const make = (): Effect.Effect<void> => {
  const waiting: Array<() => void> = []
  let began = 0
  let ticking = false

  const tick = () => {
    began = performance.now()
    if (waiting.length === 0) ticking = false
    else serve()
  }

  const serve = () => {
    if (waiting.length === 0 || performance.now() - began > sliceMillis) {
      setImmediate(tick)
      return
    }
    waiting.shift()?.()
    // Continues after the synchronous part of the request.
    queueMicrotask(() => process.nextTick(serve))
  }

  const queued = Effect.async<void>((resume) => {
    const go = () => resume(Effect.void)
    waiting.push(go)
    return Effect.sync(() => {
      const at = waiting.indexOf(go)
      if (at >= 0) waiting.splice(at, 1)
    })
  })

  return Effect.suspend(() => {
    if (!ticking) {
      ticking = true
      began = performance.now()
      setImmediate(tick)
    }
    return waiting.length === 0 && performance.now() - began <= sliceMillis ? Effect.void : queued
  })
}
