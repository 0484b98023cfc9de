import { type Registered, type Step, unhandled } from "./Step.js"

/** The places that a branch or merged fragment takes in the program of its parent. */
export const placesOf = (inner: Registered) => inner.size + (inner.fallback === undefined ? 0 : 1)

/** The registered steps in order, without the fallback. */
export const stepsOf = (registered: Registered): ReadonlyArray<Step> => {
  const steps = new Array<Step>(registered.count)
  let at: Registered | undefined = registered
  for (let index = registered.count - 1; index >= 0; index--) {
    steps[index] = at!.step!
    at = at!.previous
  }
  return steps
}

/** Lays all steps out in one array, fragments inlined and branches behind a skip, closed by the last resort. */
export const compile = (registered: Registered): ReadonlyArray<Step> => {
  const program = new Array<Step>(registered.size + 1)
  program[registered.size] = registered.fallback ?? unhandled
  const open: Array<[registered: Registered, end: number]> = []
  let at: Registered | undefined = registered
  let end = registered.size
  while (at !== undefined) {
    const step: Step | undefined = at.step
    if (step === undefined) {
      const parent = open.pop()
      at = parent?.[0]
      end = parent?.[1] ?? 0
    } else if (step.inner === undefined) {
      program[--end] = step
      at = at.previous
    } else {
      const inner: Registered = step.inner
      const start: number = end - placesOf(inner)
      const above: Registered = at.previous!
      const aboveEnd = step.when === undefined ? start : start - 1
      if (aboveEnd < start) program[aboveEnd] = step
      open.push([above, aboveEnd])
      if (inner.fallback !== undefined) program[end - 1] = inner.fallback
      end = inner.fallback === undefined ? end : end - 1
      at = inner
    }
  }
  return program
}
