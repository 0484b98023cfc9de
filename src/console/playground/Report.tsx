import { type RunResult, timeText } from "./RunResult.js"
import type { Shown } from "./useRun.js"

const advice: Readonly<Record<number, string>> = {
  400: "The chain was not run. Correct the errors in the message.",
  422: "No handler accepted the request and the chain has no fallback. Add a fallback or a handler that accepts it.",
  500: "A step failed. Give it more retries or a recovery."
}

/** The result of a run, successful or not. */
export const Report = ({ ran, where }: Pick<Shown, "ran" | "where">) => {
  const { body, micros, runs, status } = ran
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
            <dd>
              {timeText(micros)}
              {runs > 1 ? <span class="quiet-text"> (mean of {runs.toLocaleString("en")} runs)</span> : null}
            </dd>
          </div>
          <div>
            <dt>Ran</dt>
            <dd>{where}</dd>
          </div>
        </dl>
      ) : (
        <p class="quiet-text">
          {advice[status] ?? "The chain gave no answer. Try again in a moment, or run it in this browser."}
        </p>
      )}
    </div>
  )
}

/** The lines of the logging middleware. */
export const Log = ({ body }: Pick<RunResult, "body">) =>
  "log" in body ? (
    <details class="log-part">
      <summary>Log</summary>
      <ul class="log">
        {body.log.map((line, i) => (
          <li key={`${i} ${line}`}>{line}</li>
        ))}
      </ul>
    </details>
  ) : null
