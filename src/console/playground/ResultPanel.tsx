import { ProblemCard } from "../components/ProblemCard.js"
import type { ChainDraft } from "./ChainDraft.js"
import { Diagram } from "./Diagram.js"
import { diagramSteps } from "./DiagramSteps.js"
import { Log, Report } from "./Report.js"
import { reportSteps, unreportedSteps } from "./StepReport.js"
import type { useRun } from "./useRun.js"

/** The result of the chain, and the steps that the request visited. */
export const ResultPanel = (props: {
  readonly draft: ChainDraft
  readonly run: ReturnType<typeof useRun>
}) => {
  const { draft, run } = props
  const { failed, isCurrent, running, shown } = run
  const plan = diagramSteps(draft)
  // The trace of another draft does not fit this diagram.
  const way =
    isCurrent && shown !== undefined && shown.ran.visits.length > 0
      ? reportSteps(plan, shown.ran.visits)
      : unreportedSteps(plan)
  const { id, kind, priority } = draft.ticket
  return (
    <div class="report-parts" aria-busy={running !== undefined || (!isCurrent && failed === undefined)}>
      {failed === undefined ? null : <ProblemCard problem={failed} />}
      {running === undefined ? null : <p class="running">Running {running}…</p>}
      {shown === undefined ? null : <Report ran={shown.ran} where={shown.where} />}
      <Diagram
        name={draft.mode === "triage" ? "ticket-triage" : "ad-hoc"}
        request={
          draft.mode === "triage"
            ? [`ticket ${id}`, kind, ...(priority === "" ? [] : [priority])].join(", ")
            : draft.request
        }
        steps={way}
      />
      {shown === undefined ? null : <Log body={shown.ran.body} />}
    </div>
  )
}
