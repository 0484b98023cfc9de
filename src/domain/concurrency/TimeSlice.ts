import * as Effect from "effect/Effect"

/** Milliseconds of computation in one turn of the event loop. Then timers and sockets get their turn. */
const budget = 10

/** The time at which the first computation of this turn began; undefined before that. */
let began: number | undefined
const waiting: Array<() => void> = []

/** Resumes waiting computations in order, until the time slice is spent. */
const serve = () => {
  if (waiting.length === 0 || isSpent()) return
  waiting.shift()!()
  // The microtask runs after the resumed computation pauses or ends.
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

/** All computations of one turn share its time slice. With a slice each, many computations would block the event loop. */
const isSpent = (): boolean => {
  if (began !== undefined) return performance.now() - began > budget
  begin()
  return false
}

// Effect.yieldNow runs the next fiber of the same turn, so timers and sockets would not run.
const pause = (): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (began === undefined) begin()
    // Of an interrupted computation it does nothing.
    waiting.push(() => resume(Effect.void))
  })

/** The time slice of a long computation on the event loop. */
export interface TimeSlice {
  /** Whether the time slice of this turn is spent, so that the computation should pause. */
  readonly isSpent: () => boolean
  /** Waits for a later turn of the event loop. It can be interrupted. */
  readonly pause: Effect.Effect<void>
}

/** A time slice that begins now. */
export const make = (): TimeSlice => {
  if (began === undefined) begin()
  return { isSpent, pause: pause() }
}

/** Pauses if the time slice is spent. Call it between parts of a computation that do not pause themselves. */
export const yieldIfSpent = (): Effect.Effect<void> =>
  Effect.suspend(() => (isSpent() ? pause() : Effect.void))

/** Runs an effect for each item in sequence, and pauses when the time slice is spent. */
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
