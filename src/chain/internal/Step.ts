import type { StepKind } from "../Handler.js"
import type { LogOptions } from "../Logging.js"
import type { Registered } from "./Plan.js"

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

/** One step, as registered and as interpreted; immutable, and shared by every chain that contains it. */
export class Step {
  constructor(
    readonly op: number,
    readonly when: ((request: any) => unknown) | undefined,
    readonly run: ((request: any, next?: any) => unknown) | undefined,
    /** How many places to go forward when the condition refuses. */
    readonly skip: number,
    readonly name: string,
    readonly kind: StepKind,
    readonly description: string | undefined,
    /** The steps of a branch or a merged fragment. */
    readonly inner: Registered | undefined,
    readonly log: LogOptions | undefined
  ) {}
}

export const unhandled = new Step(
  Op.Unhandled,
  undefined,
  undefined,
  1,
  "unhandled",
  "fallback",
  undefined,
  undefined,
  undefined
)
