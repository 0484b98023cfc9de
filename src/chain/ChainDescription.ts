import type { StepKind } from "./Handler.js"
import { stepsOf } from "./internal/Compile.js"
import type { Registered } from "./internal/Step.js"

/**
 * One step of a chain's description.
 *
 * @since 0.1.0
 * @category models
 */
export interface StepDescription {
  /** The step's name, as in `handledBy`. It is generated if none was given. */
  readonly name: string
  /** The kind of the step. */
  readonly kind: StepKind
  /** The text given when the step was added; empty where there was none. */
  readonly description: string
}

/**
 * A chain as data: its steps in registration order, then the fallback, which is not counted.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChainDescription {
  /** The name given to `ChainBuilder.make`, or a generated one. */
  readonly name: string
  /** The number of steps in registration order, without the fallback. */
  readonly count: number
  /** The steps in registration order, then the fallback if there is one. */
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
  /** The names of the branches and fragments that contain the step, then its own name. */
  readonly path: ReadonlyArray<string>
  /** The name of the merged fragment before the step whose fallback handles every request. */
  readonly endedBy: string
  /** A sentence for people that names the step and the fragment. */
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
