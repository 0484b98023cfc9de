import { RunButton } from "./Busy.js"
import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"

/** A placeholder while entries are read, or the problem that kept them from being read. */
export const Awaited = (props: {
  readonly arrived: boolean
  readonly problem: Problem | undefined
  readonly running: boolean
  readonly onRetry: () => void
}) => (
  <>
    {props.problem === undefined ? null : (
      <ProblemCard problem={props.problem}>
        <RunButton running={props.running} onClick={props.onRetry}>
          Try again
        </RunButton>
      </ProblemCard>
    )}
    {props.arrived || props.problem !== undefined ? null : (
      <div class="skeleton-lines" aria-hidden="true">
        <span />
        <span />
        <span />
      </div>
    )}
  </>
)
