import * as Effect from "effect/Effect"
import { make } from "./TimeSlice.js"

/** A computation that can pause at each `yield` and continue later. */
export type Steps<A> = Generator<void, A, void>

/** The number of members that a computation visits between two `yield`s. */
export const stepSize = 512

/** Runs a computation without pauses. */
export const runSync = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** Runs a computation, and pauses when its time slice is spent. */
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

/** A sorted copy of a list. The sort is stable. */
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
