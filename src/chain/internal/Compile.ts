import { type Registered, type Step, unhandled } from "./Step.js"

/** The number of slots that a branch or a merged fragment takes in its parent's program. */
export const slotCount = (inner: Registered) => inner.size + (inner.fallback === undefined ? 0 : 1)

/** The registered steps in registration order, without the fallback. */
export const stepsOf = (registered: Registered): ReadonlyArray<Step> => {
  const steps = new Array<Step>(registered.count)
  let at: Registered | undefined = registered
  for (let index = registered.count - 1; index >= 0; index--) {
    steps[index] = at!.step!
    at = at!.previous
  }
  return steps
}

/**
 * Compiles the steps into one flat array. Merged fragments are inlined, a branch is preceded by its condition and a
 * skip length, and the fallback (or `unhandled`) is the last slot.
 */
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
      const start: number = end - slotCount(inner)
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
