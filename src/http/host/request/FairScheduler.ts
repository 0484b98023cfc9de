import { Effect } from "effect"

/** Milliseconds of work after which the event loop is let at new connections, and at what others have sent. */
export const sliceMillis = 10

/**
 * A turn for each request, in the order in which they came. Node serves whatever is readable before it accepts one more
 * connection: without turns, sixty-four clients that ask for much keep the last of them waiting for seconds.
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
    // After all that the request does without waiting for something else.
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
