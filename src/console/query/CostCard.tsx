import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { QueryCost } from "../../store/browse/Browse.js"
import type { Filter } from "../../store/browse/Filter.js"
import { announce } from "../components/Announcer.js"
import { plural } from "../components/Plural.js"
import type { RateBudget } from "../source/DataSource.js"
import type { ReadProgress } from "../source/LongRead.js"
import { coreOf, describeBudget, isSpentAfter } from "../source/RateBudget.js"
import { escapeBidi } from "../values/Cell.js"

/** The progress of a query that needs many requests. */
const Spending = (props: { readonly requests: number; readonly progress: ReadProgress | undefined }) => {
  const { requests } = props
  useEffect(() => announce(`Reading the documents: up to ${plural(requests, "request")}.`), [])
  const taken = props.progress?.requests
  return (
    <p class="banner">
      Reading the documents:{" "}
      {taken === undefined ? null : (
        <>
          <progress max={requests} value={Math.min(taken, requests)} aria-label="Requests taken" />{" "}
          {taken.toLocaleString("en")} of{" "}
        </>
      )}
      up to {plural(requests, "request")}. Press Esc to stop. Documents read so far are kept.
    </p>
  )
}

/**
 * The cost of a query that needs confirmation: its requests, the remaining limit, and alternatives. While the query runs,
 * its progress.
 */
export const CostCard = (props: {
  readonly cost: QueryCost
  readonly running: boolean
  readonly progress: ReadProgress | undefined
  /** Focuses the filter. */
  readonly onNarrow: () => void
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly filters: ReadonlyArray<Filter>
  /** Offers to create an index; undefined if the session may not, or if no field can have one. */
  readonly onCreateIndex: (() => void) | undefined
  readonly children: ComponentChildren
}) => {
  const { requests } = props.cost
  if (props.running) return <Spending requests={requests} progress={props.progress} />
  const unindexed = [...new Set(props.filters.map(({ path }) => escapeBidi(path)))]
  const core = coreOf(props.budgets)
  return (
    <div class="card cost">
      <h2>This query needs up to {plural(requests, "request")}</h2>
      <p>
        The documents are read one by one. {core === undefined ? null : `${describeBudget(core)} `}
        {core !== undefined && isSpentAfter(core, requests)
          ? "Reading stops when a tenth of the limit is left. Documents read so far are kept. "
          : null}
      </p>
      <p>
        {props.filters.length === 0
          ? "A lower limit or a filter on an indexed field needs fewer requests."
          : `An index on ${unindexed.join(" or ")} needs only a few requests for “is” filters.`}
      </p>
      <div class="actions">
        {props.children}
        {props.onCreateIndex === undefined ? null : (
          <button type="button" class="button plain" onClick={props.onCreateIndex}>
            Create an index
          </button>
        )}
        <button type="button" class="button plain" onClick={props.onNarrow}>
          {props.filters.length === 0 ? "Change the query" : "Narrow the filter"}
        </button>
      </div>
    </div>
  )
}
