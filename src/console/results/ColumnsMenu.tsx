import type { Density } from "../page/Settings.js"
import { escapeBidi } from "../values/Cell.js"
import { type ColumnLayout, togglePin } from "./table/ColumnLayout.js"

export const densities = ["comfortable", "compact"] as const

/** Sets the row height, the columns that are shown and their layout. */
export const ColumnsMenu = (props: {
  readonly all: ReadonlyArray<string>
  readonly columns: ReadonlyArray<string>
  /** Whether all columns are shown by default. */
  readonly isInitial: boolean
  readonly layout: ColumnLayout
  readonly onLayout: (layout: ColumnLayout | undefined) => void
  readonly density: Density
  readonly onDensity: (density: Density) => void
  readonly onColumns: (columns: ReadonlyArray<string> | "all" | undefined) => void
}) => {
  const { all, columns, layout } = props
  const isLaidOut = layout.order.length + layout.pinned.length + Object.keys(layout.widths).length > 0
  const every = props.isInitial ? undefined : "all"
  const choose = (column: string, shown: boolean) => {
    const next = all.filter((one) => (one === column ? shown : columns.includes(one)))
    props.onColumns(next.length === all.length ? every : next)
  }
  return (
    <>
      <fieldset class="choices">
        <legend>Row height</legend>
        <div class="choices-all">
          {densities.map((name) => (
            <label class="inline-check" key={name}>
              <input
                type="radio"
                name="density"
                value={name}
                checked={props.density === name}
                onChange={() => props.onDensity(name)}
              />
              {name === "compact" ? "Compact" : "Comfortable"}
            </label>
          ))}
        </div>
      </fieldset>
      <fieldset class="choices">
        <legend>Columns shown</legend>
        <div class="choices-all">
          <button type="button" class="button small quiet" onClick={() => props.onColumns(every)}>
            All
          </button>
          <button type="button" class="button small quiet" onClick={() => props.onColumns(["_id"])}>
            Only _id
          </button>
          <button
            type="button"
            class="button small quiet"
            disabled={!isLaidOut}
            onClick={() => props.onLayout(undefined)}
          >
            Reset layout
          </button>
        </div>
        {all.map((column) => (
          <div class="choice-row" key={column}>
            <label class="inline-check">
              <input
                type="checkbox"
                checked={columns.includes(column)}
                disabled={column === "_id"}
                onChange={(event) => choose(column, event.currentTarget.checked)}
              />
              <bdi>{escapeBidi(column.length > 60 ? `${column.slice(0, 60)}…` : column)}</bdi>
            </label>
            {column === "_id" || !columns.includes(column) ? null : (
              <button
                type="button"
                class="button small quiet"
                aria-pressed={layout.pinned.includes(column)}
                aria-label={`Pin ${escapeBidi(column)}`}
                onClick={() => props.onLayout(togglePin(layout, column))}
              >
                Pin
              </button>
            )}
          </div>
        ))}
      </fieldset>
    </>
  )
}
