import { Chain } from "../../chain/index.js"
import type { StepReport } from "./Compose.js"
import { triage } from "./Compose.js"
import { Outcome } from "./Report.js"

const described = Chain.describe(triage(() => undefined))

/** The triage chain as a picture: steps from top to bottom, the branch beside the line. */
export const TriageChart = ({ steps }: { readonly steps: ReadonlyArray<StepReport> }) => {
  const outcome = (path: ReadonlyArray<string>) =>
    steps.find((step) => step.path.join("/") === path.join("/"))?.outcome
  const human = outcome(["escalation", "human-agent"])
  return (
    <figure class="chart">
      <figcaption>
        <strong>{described.name}</strong>: {described.count} steps and a fallback; the branch counts as one.
      </figcaption>
      <ol class="chart-steps">
        {described.handlers.map(({ description, kind, name }) => {
          const result = outcome([name])
          return (
            <li class={`chart-step ${kind} ${(result ?? "idle").replace(" ", "-")}`} key={name}>
              <div class="node">
                <span class="step-kind">{kind}</span>
                <strong>{name}</strong>
                <span class="node-text">{description}</span>
                {result === undefined ? null : <Outcome outcome={result} />}
              </div>
              {kind === "branch" ? (
                <div class="arm">
                  <span class="arm-label">urgent</span>
                  <div class={`node ${(human ?? "idle").replace(" ", "-")}`}>
                    <span class="step-kind">handler in the branch</span>
                    <strong>human-agent</strong>
                    {steps.length === 0 ? null : <Outcome outcome={human ?? "not reached"} />}
                  </div>
                </div>
              ) : null}
            </li>
          )
        })}
      </ol>
    </figure>
  )
}
