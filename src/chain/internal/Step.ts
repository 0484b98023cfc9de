import type { StepKind } from "../Handler.js"
import type { LogOptions } from "../LogEntry.js"

/** How the interpreter treats a step. */
export const Op = {
  /** answers with `run(request)` */
  Answer: 0,
  /** answers with `run(request, next)` */
  Handle: 1,
  /** enters the steps that follow; its condition was the only question */
  Enter: 2,
  /** reports how the rest of the chain fared */
  Log: 3,
  /** the end of a chain without fallback */
  Unhandled: 4
} as const

/**
 * One step, as registered and as interpreted; immutable, and shared by every chain that contains it. Every step has all
 * fields in this order, so that the interpreter meets one shape.
 */
export interface Step {
  readonly op: number
  readonly when: ((request: any) => unknown) | undefined
  readonly run: ((request: any, next?: any) => unknown) | undefined
  /** How many places to go forward when the condition refuses. */
  readonly skip: number
  readonly name: string
  readonly kind: StepKind
  readonly description: string | undefined
  /** The steps of a branch or a merged fragment. */
  readonly inner: Registered | undefined
  readonly log: LogOptions | undefined
}

/** A builder as the compiler sees it: its last step, and the builder before that. */
export interface Registered {
  readonly name: string
  readonly previous: Registered | undefined
  readonly step: Step | undefined
  readonly fallback: Step | undefined
  /** Registered steps; the fallback is none. */
  readonly count: number
  /** Places in the program, those of branches and merged fragments included; the fallback is none. */
  readonly size: number
  /** Whether every request is answered here: a fallback, own or of a merged fragment. */
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
