import type { DiagramStep } from "./DiagramSteps.js"

/** One visit of a step, as the library's trace reports it. */
export interface StepVisit {
  readonly kind: string
  readonly outcome: string
  /** The duration of the step; undefined if it was not measured. */
  readonly micros?: number | undefined
  /** The number of attempts of its work. */
  readonly tries?: number | undefined
}

export type Outcome = "matched" | "passed" | "skipped" | "failed" | "not reached"

/** The result of one step and its reason, for the user. */
export interface StepReport extends Omit<DiagramStep, "steps"> {
  readonly outcome: Outcome | undefined
  /** A sentence without a full stop: "3 < 0 is false". */
  readonly why: string
  readonly micros: number | undefined
  readonly steps: ReadonlyArray<StepReport>
}

const tried = (tries: number | undefined): string =>
  tries === undefined || tries <= 1 ? "" : `, on try ${tries}`

const whyOf = ({ asked, kind }: DiagramStep, outcome: Outcome, { tries }: StepVisit): string => {
  if (kind === "middleware") return "passes every request on"
  if (asked === undefined) return "no handler accepted the request"
  switch (outcome) {
    case "skipped":
      return `${asked} is false`
    case "failed":
      return `${asked} is true, but it failed${tried(tries)}`
    case "passed":
      return `${asked} is true, but no step inside accepted`
    default:
      return `${asked} is true${tried(tries)}`
  }
}

const unvisited = (steps: ReadonlyArray<DiagramStep>, outcome: "not reached" | undefined, why: string) =>
  steps.map(
    (step): StepReport => ({
      ...step,
      outcome,
      why,
      micros: undefined,
      steps: unvisited(step.steps, outcome, "")
    })
  )

/** The steps of a chain before any request. */
export const unreportedSteps = (plan: ReadonlyArray<DiagramStep>): ReadonlyArray<StepReport> =>
  unvisited(plan, undefined, "")

/**
 * The path of a request through the plan. The library visits steps in the order of the plan, and those of a branch only if
 * the branch was entered. A merged fragment is not a step. So the next visit belongs to the next step, whatever its name is.
 */
export const reportSteps = (
  plan: ReadonlyArray<DiagramStep>,
  visits: ReadonlyArray<StepVisit>
): ReadonlyArray<StepReport> => {
  let at = 0
  const ended = () => at >= visits.length
  const last = visits[visits.length - 1]
  const after = last?.outcome === "failed" ? "an earlier step failed" : "an earlier step answered"
  const steps = (list: ReadonlyArray<DiagramStep>): ReadonlyArray<StepReport> => list.map(one)
  const settled = (inner: ReadonlyArray<StepReport>): Outcome =>
    inner.some(({ outcome }) => outcome === "matched")
      ? "matched"
      : inner.some(({ outcome }) => outcome === "failed")
        ? "failed"
        : "passed"
  const one = (step: DiagramStep): StepReport => {
    if (ended()) return unvisited([step], "not reached", after)[0]!
    if (step.kind === "fragment") {
      const inner = steps(step.steps)
      const outcome = settled(inner)
      const why =
        outcome === "matched"
          ? "a step inside answered"
          : outcome === "passed"
            ? "no step inside accepted"
            : ""
      return { ...step, outcome, why, micros: undefined, steps: inner }
    }
    const visit = visits[at++]!
    if (step.kind !== "branch" || visit.outcome === "skipped") {
      const outcome = visit.outcome as Outcome
      return {
        ...step,
        outcome,
        why: whyOf(step, outcome, visit),
        micros: visit.micros,
        steps: unvisited(step.steps, "not reached", "the branch was not entered")
      }
    }
    const inner = steps(step.steps)
    const outcome = settled(inner)
    return {
      ...step,
      outcome,
      why: outcome === "failed" ? `${step.asked} is true` : whyOf(step, outcome, visit),
      micros: visit.micros,
      steps: inner
    }
  }
  return steps(plan)
}
