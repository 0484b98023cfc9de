import type { JsonObject } from "../domain/Document.js"
import type { SessionView } from "../http/console/Api.js"
import { visible } from "./Cell.js"
import { Menu } from "./Menu.js"
import { part } from "./Part.js"
import type { Place } from "./Place.js"

const ExportMenu = part(() => import("./ExportMenu.js").then((found) => found.ExportMenu))

/** Column chooser and export: both concern exactly the rows and columns that are shown. */
export const ResultTools = (props: {
  readonly name: string
  /** Whether the rows answer an older question than the one that is asked now. */
  readonly old: boolean
  readonly rows: ReadonlyArray<JsonObject>
  readonly all: ReadonlyArray<string>
  readonly columns: ReadonlyArray<string>
  /** Whether all columns are shown where nobody has chosen any. */
  readonly isInitial: boolean
  readonly session: SessionView
  readonly place: Place
  readonly onColumns: (columns: ReadonlyArray<string> | "all" | undefined) => void
}) => {
  const { all, columns, name, rows } = props
  const every = props.isInitial ? undefined : "all"
  const choose = (column: string, shown: boolean) => {
    const next = all.filter((one) => (one === column ? shown : columns.includes(one)))
    props.onColumns(next.length === all.length ? every : next)
  }
  return (
    <>
      <Menu label="Columns" icon="columns" id="columns">
        {() => (
          <fieldset class="choices">
            <legend>Columns shown</legend>
            <div class="choices-all">
              <button type="button" class="button small quiet" onClick={() => props.onColumns(every)}>
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
                <bdi>{visible(column.length > 60 ? `${column.slice(0, 60)}…` : column)}</bdi>
              </label>
            ))}
          </fieldset>
        )}
      </Menu>
      <Menu label="Export" icon="save" id="export" disabled={rows.length === 0 || props.old}>
        {(close) => (
          <ExportMenu
            frame={{ waiting: <p class="menu-title">Loading…</p>, failed: (card) => card }}
            name={name}
            rows={rows}
            columns={columns}
            session={props.session}
            place={props.place}
            onDone={close}
          />
        )}
      </Menu>
    </>
  )
}
