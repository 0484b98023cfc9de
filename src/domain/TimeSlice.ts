import * as Effect from "effect/Effect"

/** Milliseconds of work after which the event loop is let at what others have sent. */
const budget = 10

/** The turn of one long computation on the event loop. */
export interface TimeSlice {
  /** Whether the computation has used its turn up and should pause. */
  readonly isSpent: () => boolean
  /** Waits until everybody else had a turn. An interruption is seen here. */
  readonly pause: Effect.Effect<void>
}

/** A turn that begins now. */
export const make = (): TimeSlice => {
  let began = performance.now()
  return {
    isSpent: () => performance.now() - began > budget,
    // A yield of Effect's scheduler runs the next fiber, and lets no timer and no socket in.
    pause: Effect.async<void>((resume) => {
      const timer = setTimeout(() => {
        began = performance.now()
        resume(Effect.void)
      }, 0)
      return Effect.sync(() => clearTimeout(timer))
    })
  }
}

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

/** A computation in steps: it can stop at each `yield`, with its work so far kept. */
export type Steps<A> = Generator<void, A, void>

/** Members of a value that are visited in one step. */
export const stepSize = 512

/** The result of a computation, without a pause. */
export const runSync = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The result of a computation, with pauses for others where it takes long. */
export const run = <A>(start: () => Steps<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    const steps = start()
    const slice = make()
    const proceed = (): Effect.Effect<A> => {
      for (;;) {
        const step = steps.next()
        if (step.done === true) return Effect.succeed(step.value)
        if (slice.isSpent()) return Effect.zipRight(slice.pause, Effect.suspend(proceed))
      }
    }
    return proceed()
  })

/** A sorted copy of a list, in steps. Equal items keep their order. */
export function* sorted<A>(items: ReadonlyArray<A>, compare: (a: A, b: A) => number): Steps<Array<A>> {
  let runs: Array<Array<A>> = []
  for (let at = 0; at < items.length; at += stepSize) {
    runs.push(items.slice(at, at + stepSize).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: Array<Array<A>> = []
    for (let at = 0; at < runs.length; at += 2) {
      const next = runs[at + 1]
      merged.push(next === undefined ? runs[at]! : yield* mergedRuns(runs[at]!, next, compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

function* mergedRuns<A>(
  first: ReadonlyArray<A>,
  second: ReadonlyArray<A>,
  compare: (a: A, b: A) => number
): Steps<Array<A>> {
  const all: Array<A> = []
  let [i, j] = [0, 0]
  while (i < first.length || j < second.length) {
    if (all.length % stepSize === 0) yield
    const isFirst = j >= second.length || (i < first.length && compare(first[i]!, second[j]!) <= 0)
    all.push(isFirst ? first[i++]! : second[j++]!)
  }
  return all
}

const nested = 2

/** The JSON text of a value, with turns for others between the members of its outer levels. */
export const stringify = (value: unknown): Effect.Effect<string> => {
  const slice = make()
  const parts: Array<string> = []
  const print = (member: unknown, level: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      if (slice.isSpent()) yield* slice.pause
      if (level === nested || typeof member !== "object" || member === null) {
        parts.push(JSON.stringify(member))
        return
      }
      const isList = Array.isArray(member)
      const entries = Object.entries(member).filter(([, inner]) => isList || inner !== undefined)
      parts.push(isList ? "[" : "{")
      for (const [at, [key, inner]] of entries.entries()) {
        if (at > 0) parts.push(",")
        if (!isList) parts.push(JSON.stringify(key), ":")
        yield* print(inner, level + 1)
      }
      parts.push(isList ? "]" : "}")
    })
  return Effect.map(print(value, 0), () => parts.join(""))
}
