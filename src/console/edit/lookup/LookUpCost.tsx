import { useEffect, useState } from "preact/hooks"
import { plural } from "../../components/Plural.js"
import { useEffectRunner } from "../../components/useEffectRunner.js"
import type { DataSourceService, RateBudget } from "../../source/DataSource.js"
import { coreOf, describeBudget, isSpentAfter, maxUnconfirmed } from "../../source/RateBudget.js"
import { requestsFor } from "./LookUp.js"

/** The requests that reading many documents takes, and how many are left. Empty if there are few, or no rate limit. */
export const LookUpCost = (props: { readonly source: DataSourceService; readonly documents: number }) => {
  const { documents, source } = props
  const [core, setCore] = useState<RateBudget | undefined>(undefined)
  const reading = useEffectRunner()
  const requests = requestsFor(documents)
  const isMany = requests > maxUnconfirmed
  useEffect(() => {
    if (isMany)
      reading.run(source.rate, {
        success: (budgets) => setCore(coreOf(budgets)),
        failure: () => setCore(undefined)
      })
  }, [isMany])
  if (!isMany || core === undefined) return null
  return (
    <p class="help">
      Reading {plural(documents, "document")} takes up to {plural(requests, "request")}.{" "}
      {describeBudget(core)}
      {isSpentAfter(core, requests)
        ? " Reading stops when a tenth of the limit is left. What was done by then is kept."
        : null}
    </p>
  )
}
