import type { StepDraft } from "./ChainDraft.js"

type Steps = ReadonlyArray<StepDraft>

/** Applies `change` to the list that contains the step with this key. */
const where = (steps: Steps, key: number, change: (siblings: Steps, index: number) => Steps): Steps => {
  const index = steps.findIndex((step) => step.key === key)
  if (index >= 0) return change(steps, index)
  return steps.map((step) => {
    const inner = where(step.steps, key, change)
    return inner.length === step.steps.length && inner.every((one, i) => one === step.steps[i])
      ? step
      : { ...step, steps: inner }
  })
}

export const changeStep = (steps: Steps, key: number, part: Partial<StepDraft>): Steps =>
  where(steps, key, (siblings, index) =>
    siblings.map((step, i) => (i === index ? { ...step, ...part } : step))
  )

export const removeStep = (steps: Steps, key: number): Steps =>
  where(steps, key, (siblings, index) => siblings.filter((_, i) => i !== index))

/** Moves a step to another index among its siblings. */
export const moveStep = (steps: Steps, key: number, to: number): Steps =>
  where(steps, key, (siblings, index) => {
    if (to < 0 || to >= siblings.length || to === index) return siblings
    const next = [...siblings]
    next.splice(to, 0, ...next.splice(index, 1))
    return next
  })

/** Adds a step at the end of a group, or of the chain. */
export const addStep = (steps: Steps, group: number | undefined, step: StepDraft): Steps =>
  group === undefined
    ? [...steps, step]
    : steps.map((one) =>
        one.key === group
          ? { ...one, steps: [...one.steps, step] }
          : one.steps.length === 0
            ? one
            : { ...one, steps: addStep(one.steps, group, step) }
      )

/** The list that contains a step, and the step's index. */
export const positionOf = (
  steps: Steps,
  key: number
): { readonly siblings: Steps; readonly index: number } | undefined => {
  const index = steps.findIndex((step) => step.key === key)
  if (index >= 0) return { siblings: steps, index }
  for (const { steps: inner } of steps) {
    const found = positionOf(inner, key)
    if (found !== undefined) return found
  }
  return undefined
}

export const countSteps = (steps: Steps): number =>
  steps.reduce((sum, step) => sum + 1 + countSteps(step.steps), 0)
