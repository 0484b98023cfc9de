import type { RateBudget } from "../source/DataSource.js"

const clock = (seconds: number) =>
  new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })

/** The remaining rate limit and its reset time. */
export const RateMeter = ({ budgets }: { readonly budgets: ReadonlyArray<RateBudget> | undefined }) => {
  if (budgets === undefined) return null
  const core = budgets.find(({ resource }) => resource === "core") ?? budgets[0]
  if (core === undefined) return <p class="rate">No request limit</p>
  const low = core.remaining < core.limit / 10
  const text = `${core.remaining.toLocaleString("en")} of ${core.limit.toLocaleString("en")} requests left, reset at ${clock(core.reset)}`
  return (
    <p class={`rate ${low ? "low" : ""}`} title={text}>
      <meter
        min={0}
        max={core.limit}
        low={core.limit / 10}
        optimum={core.limit}
        value={core.remaining}
        aria-label={text}
      />
      <span data-remaining={core.remaining}>
        {low ? <strong>Low: </strong> : null}
        {core.remaining.toLocaleString("en")} / {core.limit.toLocaleString("en")}
        <span class="rate-reset"> · resets {clock(core.reset)}</span>
      </span>
    </p>
  )
}
