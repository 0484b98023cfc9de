import type { ComponentChildren } from "preact"
import type { ProblemText } from "./ProblemText.js"

/** A problem: what happened, and what to do next. */
export const ProblemCard = (props: {
  readonly problem: ProblemText
  readonly children?: ComponentChildren
}) => (
  <div class="card problem" data-kind={props.problem.kind}>
    <h2>{props.problem.title}</h2>
    <p>
      <bdi>{props.problem.message}</bdi>
    </p>
    <p class="problem-next">
      <strong>What to do:</strong> {props.problem.next}
    </p>
    {props.children}
  </div>
)
