import type { StepKind } from "../Handler.js"
import type { LogOptions } from "../LogEntry.js"

/** How the interpreter treats a step. */
export const Op = {
  /** Responds with `run(request)`. */
  Answer: 0,
  /** Responds with `run(request, next)`. */
  Handle: 1,
  /** Enters the steps of a branch that follow it, if its condition holds. */
  Enter: 2,
  /** Logs the outcome of the steps that follow it. */
  Log: 3,
  /** Ends a chain without fallback: fails with `UnhandledRequestError`. */
  Unhandled: 4
} as const

/**
 * One step, in the builder and in the compiled program. It is immutable and shared by every chain that contains it. All
 * steps have the same fields in the same order, so that the engine uses one hidden class in the interpreter's loop.
 */
export interface Step {
  readonly op: number
  readonly when: ((request: any) => unknown) | undefined
  readonly run: ((request: any, next?: any) => unknown) | undefined
  /** The number of slots to advance when the condition is false. */
  readonly skip: number
  readonly name: string
  readonly kind: StepKind
  readonly description: string | undefined
  /** The steps of a branch or a merged fragment. */
  readonly inner: Registered | undefined
  readonly log: LogOptions | undefined
}

/** A builder as a linked list: its last step, and the builder before that step. */
export interface Registered {
  readonly name: string
  readonly previous: Registered | undefined
  readonly step: Step | undefined
  readonly fallback: Step | undefined
  /** The number of registered steps, without the fallback. */
  readonly count: number
  /** The number of slots in the program, with those of branches and merged fragments, without the fallback. */
  readonly size: number
  /** Whether the builder or a merged fragment has a fallback, so that every request is handled. */
  readonly ends: boolean
}

export const unhandled: Step = {
  op: Op.Unhandled,
  when: undefined,
  run: undefined,
  skip: 1,
  name: "unhandled",
  kind: "fallback",
  description: undefined,
  inner: undefined,
  log: undefined
}
