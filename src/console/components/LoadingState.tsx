import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"
import { RunButton } from "./RunButton.js"

/** A placeholder for text that is being loaded. */
export const SkeletonLines = () => (
  <div class="skeleton-lines" aria-hidden="true">
    <span />
    <span />
    <span />
  </div>
)

/** A placeholder until data is loaded, or the problem that prevented loading it. */
export const LoadingState = (props: {
  readonly loaded: boolean
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
    {props.loaded || props.problem !== undefined ? null : <SkeletonLines />}
  </>
)
