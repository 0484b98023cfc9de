import type { StepKind } from "./Handler.js"
import { stepsOf } from "./internal/Plan.js"
import type { Registered } from "./internal/Step.js"

/**
 * One line of a description.
 *
 * @since 0.1.0
 * @category models
 */
export interface StepDescription {
  /** The step's name, which `handledBy` gives when it answers; generated where none was given. */
  readonly name: string
  /** What the step does with a request. */
  readonly kind: StepKind
  /** The text given when the step was added; empty where there was none. */
  readonly description: string
}

/**
 * A chain as data: its steps in registration order, and the fallback, which counts none, as the last entry.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChainDescription {
  /** The name given to `ChainBuilder.make`, or a generated one. */
  readonly name: string
  /** The number of steps in registration order, without the fallback. */
  readonly count: number
  /** The steps in registration order, and the fallback as the last entry where there is one. */
  readonly handlers: ReadonlyArray<StepDescription>
}

/**
 * A step that no request can reach.
 *
 * @since 0.1.0
 * @category models
 */
export interface UnreachableStep {
  readonly _tag: "UnreachableStep"
  /** Where it is: the names of the branches and fragments around it, and its own. */
  readonly path: ReadonlyArray<string>
  /** The merged fragment whose fallback ends the chain before it. */
  readonly endedBy: string
  /** A sentence for humans that names the step and the fallback before it. */
  readonly message: string
}

/** @internal */
export const describe = (registered: Registered): ChainDescription => {
  const steps = [...stepsOf(registered), ...(registered.fallback === undefined ? [] : [registered.fallback])]
  return {
    name: registered.name,
    count: registered.count,
    handlers: steps.map(({ name, kind, description }) => ({ name, kind, description: description ?? "" }))
  }
}

/** @internal */
export const unreachable = (registered: Registered): ReadonlyArray<UnreachableStep> => {
  const found: Array<UnreachableStep> = []
  const open: Array<[registered: Registered, path: ReadonlyArray<string>]> = [[registered, []]]
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const [{ fallback }, path] = at
    let endedBy: string | undefined
    for (const step of [...stepsOf(at[0]), ...(fallback === undefined ? [] : [fallback])]) {
      const here = [...path, step.name]
      if (endedBy !== undefined) {
        found.push({
          _tag: "UnreachableStep",
          path: here,
          endedBy,
          message: `No request reaches "${here.join(" > ")}": the fallback of "${endedBy}" ends the chain before it.`
        })
      } else if (step.inner !== undefined) {
        open.push([step.inner, here])
        if (step.when === undefined && step.inner.ends) endedBy = step.name
      }
    }
  }
  return found
}
