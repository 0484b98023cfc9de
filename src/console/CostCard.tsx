import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import type { QueryCost } from "../store/browse/Browse.js"
import type { Filter } from "../store/browse/Filter.js"
import { announce, counted } from "./Announcer.js"
import type { RateBudget } from "./DataSource.js"

/** What the query that runs may take. */
const Spending = ({ requests }: QueryCost) => {
  const text = `Reading the documents: up to ${counted(requests, "request")}.`
  useEffect(() => announce(text), [])
  return <p class="banner">{text} Esc cancels the run.</p>
}

/**
 * A query that is not run before somebody agrees to its cost: its requests, the remaining budget, and the alternatives.
 * Once it runs, its requests alone.
 */
export const CostCard = (props: {
  readonly cost: QueryCost
  readonly running: boolean
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly filters: ReadonlyArray<Filter>
  readonly children: ComponentChildren
}) => {
  const { requests } = props.cost
  if (props.running) return <Spending requests={requests} />
  const core = props.budgets?.find(({ resource }) => resource === "core")
  return (
    <div class="card cost">
      <h2>This takes up to {counted(requests, "request")}</h2>
      <p>
        The documents are read one by one.{" "}
        {core === undefined
          ? null
          : `${core.remaining.toLocaleString("en")} of ${core.limit.toLocaleString("en")} requests are left in this window. `}
        {core !== undefined && core.remaining < requests ? "They are not enough." : null}
      </p>
      <p>
        {props.filters.length === 0
          ? "A lower limit takes fewer."
          : "A filter by “is” on an indexed field takes a few, whatever the size of the collection."}
      </p>
      {props.children}
    </div>
  )
}
