import { ProblemCard } from "./ProblemCard.js"
import type { ProblemText } from "./ProblemText.js"

/** A part of the page that could not be loaded. */
export const PartProblem = (props: {
  readonly problem: ProblemText
  /** How often it was tried again. */
  readonly retries: number
  readonly onRetry: (retries: number) => void
}) => (
  <ProblemCard problem={props.problem}>
    <button type="button" class="button plain" onClick={() => props.onRetry(props.retries + 1)}>
      Try again
    </button>
    {/* Some browsers keep a failed module until the page is loaded again. */}
    {props.retries === 0 ? null : (
      <button type="button" class="button quiet" onClick={() => location.reload()}>
        Reload the page
      </button>
    )}
  </ProblemCard>
)
