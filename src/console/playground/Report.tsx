import type { Ran, StepReport } from "./Compose.js"

const marks = { matched: "✓", passed: "↓", skipped: "–", failed: "!", "not reached": "·" } as const

/** What became of a step, in words as well as in colour. */
export const Outcome = ({ outcome }: { readonly outcome: StepReport["outcome"] }) => (
  <span class={`outcome ${outcome.replace(" ", "-")}`}>
    <span aria-hidden="true">{marks[outcome]}</span> {outcome}
  </span>
)

/** The answer of a run, whatever its status. */
export const Report = (props: { readonly ran: Ran; readonly where: string; readonly withSteps: boolean }) => {
  const { body, status, steps } = props.ran
  return (
    <div class="report">
      <p class={`verdict s${Math.floor(status / 100)}`}>
        <span class="status">{status}</span>
        {"response" in body ? (
          <span>
            <bdi class="response">{body.response === "" ? "(an empty response)" : body.response}</bdi>
          </span>
        ) : (
          <span>
            <strong>{body.error}</strong> <bdi>{body.message}</bdi>
          </span>
        )}
      </p>
      {"response" in body ? (
        <dl class="facts">
          <div>
            <dt>Handled by</dt>
            <dd>
              <bdi>{body.handledBy}</bdi>
            </dd>
          </div>
          <div>
            <dt>Took</dt>
            <dd>{body.elapsedMilliseconds} ms</dd>
          </div>
          <div>
            <dt>Ran</dt>
            <dd>{props.where}</dd>
          </div>
        </dl>
      ) : (
        <p class="quiet-text">
          {status === 422
            ? "No handler accepted the request and the chain has no fallback. Add a fallback or a handler that accepts it."
            : status === 400
              ? "The chain was not run. Correct what the message names and run again."
              : "The chain gave no answer. Try again in a moment, or run it in this browser."}
        </p>
      )}
      {!props.withSteps || steps.length === 0 ? null : (
        <>
          <h3>Steps</h3>
          <ol class="trace">
            {steps.map((step, i) => (
              <li key={`${i} ${step.name}`} class={step.outcome.replace(" ", "-")}>
                <bdi>{step.name}</bdi>
                <span class="step-kind">{step.kind}</span>
                <span class="grow" />
                <Outcome outcome={step.outcome} />
              </li>
            ))}
          </ol>
        </>
      )}
      {"response" in body ? (
        <>
          <h3>Log</h3>
          <ul class="log">
            {body.log.map((line, i) => (
              <li key={`${i} ${line}`}>{line}</li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  )
}
