import { lazy, Suspense } from "preact/compat"
import type { JsonObject } from "../domain/Document.js"
import type { SessionView } from "../http/console/Api.js"
import { Menu } from "./Menu.js"
import type { Place } from "./Place.js"

const ExportMenu = lazy(() => import("./ExportMenu.js").then((part) => part.ExportMenu))

/** Column chooser and export: both concern exactly the rows and columns that are shown. */
export const ResultTools = (props: {
  readonly name: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly all: ReadonlyArray<string>
  readonly columns: ReadonlyArray<string>
  readonly session: SessionView
  readonly place: Place
  readonly onColumns: (columns: ReadonlyArray<string> | undefined) => void
}) => {
  const { all, columns, name, rows } = props
  const choose = (column: string, shown: boolean) => {
    const next = all.filter((one) => (one === column ? shown : columns.includes(one)))
    props.onColumns(next.length === all.length ? undefined : next)
  }
  return (
    <>
      <Menu label="Columns" icon="columns" id="columns">
        {() => (
          <fieldset class="choices">
            <legend>Columns shown</legend>
            <div class="choices-all">
              <button type="button" class="button small quiet" onClick={() => props.onColumns(undefined)}>
                All
              </button>
              <button type="button" class="button small quiet" onClick={() => props.onColumns(["_id"])}>
                Only _id
              </button>
            </div>
            {all.map((column) => (
              <label class="inline-check" key={column}>
                <input
                  type="checkbox"
                  checked={columns.includes(column)}
                  disabled={column === "_id"}
                  onChange={(event) => choose(column, event.currentTarget.checked)}
                />
                <bdi>{column.length > 60 ? `${column.slice(0, 60)}…` : column}</bdi>
              </label>
            ))}
          </fieldset>
        )}
      </Menu>
      <Menu label="Export" icon="save" id="export" disabled={rows.length === 0}>
        {(close) => (
          <Suspense fallback={<p class="menu-title">Loading…</p>}>
            <ExportMenu
              name={name}
              rows={rows}
              columns={columns}
              session={props.session}
              place={props.place}
              onDone={close}
            />
          </Suspense>
        )}
      </Menu>
    </>
  )
}
