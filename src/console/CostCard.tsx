import type { ComponentChildren } from "preact"
import type { QueryCost } from "../store/browse/Browse.js"
import type { Filter } from "../store/browse/Filter.js"
import { counted } from "./Announcer.js"
import type { RateBudget } from "./DataSource.js"

/** A query that was not run because of its cost: its requests, the remaining budget, and the alternatives. */
export const CostCard = (props: {
  readonly cost: QueryCost
  readonly budgets: ReadonlyArray<RateBudget> | undefined
  readonly filters: ReadonlyArray<Filter>
  readonly children: ComponentChildren
}) => {
  const { requests } = props.cost
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
