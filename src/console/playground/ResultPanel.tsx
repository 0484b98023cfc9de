import { ProblemCard } from "../components/ProblemCard.js"
import { Diagram } from "./Diagram.js"
import type { Draft } from "./Draft.js"
import { planOf } from "./Plan.js"
import { Log, Report } from "./Report.js"
import type { useRun } from "./useRun.js"
import { idle, wayOf } from "./Way.js"

/** What the chain answers, and the way that the request took through it. */
export const ResultPanel = (props: { readonly draft: Draft; readonly run: ReturnType<typeof useRun> }) => {
  const { draft, run } = props
  const { failed, isCurrent, running, shown } = run
  const plan = planOf(draft)
  // The way of another draft does not fit this picture.
  const way =
    isCurrent && shown !== undefined && shown.ran.visits.length > 0
      ? wayOf(plan, shown.ran.visits)
      : idle(plan)
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
