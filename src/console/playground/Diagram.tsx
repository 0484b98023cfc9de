import { timeText } from "./RunResult.js"
import type { Outcome as OutcomeName, StepReport } from "./StepReport.js"

const marks = { matched: "✓", passed: "↓", skipped: "–", failed: "!", "not reached": "·" } as const

/** The result of a step, as text and as a colour. */
const Outcome = ({ outcome }: { readonly outcome: OutcomeName }) => (
  <span class={`outcome ${outcome.replace(" ", "-")}`}>
    <span aria-hidden="true">{marks[outcome]}</span> {outcome}
  </span>
)

const Steps = ({ steps, top }: { readonly steps: ReadonlyArray<StepReport>; readonly top?: boolean }) => (
  <ol class={top === true ? "chart-steps trace" : "chart-steps"}>
    {steps.map((step, i) => (
      <li
        class={`chart-step ${step.kind} ${(step.outcome ?? "idle").replace(" ", "-")}`}
        key={`${i} ${step.name}`}
      >
        <div class="node">
          <bdi class="node-name">{step.name === "" ? "(no name)" : step.name}</bdi>
          <span class="step-kind">{step.kind}</span>
          <span class="grow" />
          {step.outcome === undefined ? null : <Outcome outcome={step.outcome} />}
          <p class="node-text">
            <bdi>{step.text}</bdi>
          </p>
          {step.why === "" ? null : (
            <p class="why">
              <bdi>{step.why}</bdi>
              {step.micros === undefined ? null : <span class="time"> in {timeText(step.micros)}</span>}
            </p>
          )}
        </div>
        {step.steps.length === 0 ? null : <Steps steps={step.steps} />}
      </li>
    ))}
  </ol>
)

/** A diagram of the chain: steps from top to bottom, those of a branch beside the line, and the path of the request. */
export const Diagram = (props: {
  readonly name: string
  readonly request: string
  readonly steps: ReadonlyArray<StepReport>
}) => {
  const count = props.steps.filter(({ kind }) => kind !== "fallback").length
  const groups = props.steps.some(({ kind }) => kind === "branch" || kind === "fragment")
  return (
    <figure class="chart">
      <figcaption>
        <strong>{props.name}</strong>: {count} {count === 1 ? "step" : "steps"}
        {count === props.steps.length ? ", no fallback" : " and a fallback"}
        {groups ? "; a branch or fragment counts as one" : ""}.
      </figcaption>
      <p class="chart-start">
        Request <bdi>{props.request}</bdi>
      </p>
      <Steps steps={props.steps} top />
    </figure>
  )
}
