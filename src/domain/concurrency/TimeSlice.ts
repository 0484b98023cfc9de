import * as Effect from "effect/Effect"

/** Milliseconds of work after which the event loop is let at what others have sent. */
const budget = 10

/** When this turn of the event loop began to be used; undefined before a computation of it has asked. */
let began: number | undefined
const waiting: Array<() => void> = []

/** Lets those who wait go on in their order, until they have used this turn up. */
const serve = () => {
  if (waiting.length === 0 || isSpent()) return
  waiting.shift()!()
  // After all that it does without waiting for something else.
  queueMicrotask(serve)
}

const nextTurn = () => {
  began = undefined
  if (waiting.length === 0) return
  begin()
  serve()
}

const begin = () => {
  began = performance.now()
  setTimeout(nextTurn, 0)
}

/** All computations of one turn of the event loop share it: one after the other they would hold it as long as one. */
const isSpent = (): boolean => {
  if (began !== undefined) return performance.now() - began > budget
  begin()
  return false
}

// A yield of Effect's scheduler runs the next fiber, and lets no timer and no socket in.
const pause = (): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    const go = () => resume(Effect.void)
    if (began === undefined) begin()
    waiting.push(go)
    return Effect.sync(() => {
      const at = waiting.indexOf(go)
      if (at >= 0) waiting.splice(at, 1)
    })
  })

/** The turn of one long computation on the event loop. */
export interface TimeSlice {
  /** Whether this turn of the event loop is used up, and the computation should pause. */
  readonly isSpent: () => boolean
  /** Waits until everybody else had a turn. An interruption is seen here. */
  readonly pause: Effect.Effect<void>
}

/** A turn that begins now. */
export const make = (): TimeSlice => {
  if (began === undefined) begin()
  return { isSpent, pause: pause() }
}

/** Lets others go on where this turn of the event loop is used up: between pieces that are computed in one go. */
export const yieldIfSpent = (): Effect.Effect<void> =>
  Effect.suspend(() => (isSpent() ? pause() : Effect.void))

/** Runs an effect for each item, one after the other, with turns for others in between. */
export const forEach = <A, B, E, R>(
  items: Iterable<A>,
  run: (item: A) => Effect.Effect<B, E, R>
): Effect.Effect<Array<B>, E, R> =>
  Effect.suspend(() => {
    const slice = make()
    return Effect.forEach(items, (item) =>
      slice.isSpent() ? Effect.zipRight(slice.pause, run(item)) : run(item)
    )
  })
