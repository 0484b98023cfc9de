import type { JsonObject } from "../../domain/json/Json.js"
import type { SessionView } from "../../http/console/Api.js"
import { lazyComponent } from "../components/LazyComponent.js"
import { Menu } from "../components/Menu.js"
import type { Route } from "../navigation/Route.js"
import type { Density } from "../page/Settings.js"
import type { ColumnLayout } from "./table/ColumnLayout.js"

const ColumnsMenu = lazyComponent(() => import("./ColumnsMenu.js").then((found) => found.ColumnsMenu))
const ExportMenu = lazyComponent(() => import("./ExportMenu.js").then((found) => found.ExportMenu))

/** The menus that select columns and export the result. */
export const ResultToolbar = (props: {
  readonly name: string
  /** Whether the rows are from an older query. */
  readonly old: boolean
  readonly rows: ReadonlyArray<JsonObject>
  readonly all: ReadonlyArray<string>
  readonly columns: ReadonlyArray<string>
  readonly layout: ColumnLayout
  readonly onLayout: (layout: ColumnLayout | undefined) => void
  /** Whether all columns are shown by default. */
  readonly isInitial: boolean
  readonly density: Density
  readonly onDensity: (density: Density) => void
  readonly session: SessionView
  readonly route: Route
  /** Loads every document that matches; undefined if all are loaded. */
  readonly onEverything: (() => void) | undefined
  readonly onColumns: (columns: ReadonlyArray<string> | "all" | undefined) => void
}) => {
  const { columns, name, rows } = props
  return (
    <>
      <Menu label="Columns" icon="columns" id="columns">
        {() => (
          <ColumnsMenu
            frame={{ waiting: <p class="menu-title">Loading…</p>, failed: (card) => card }}
            all={props.all}
            columns={columns}
            isInitial={props.isInitial}
            layout={props.layout}
            onLayout={props.onLayout}
            density={props.density}
            onDensity={props.onDensity}
            onColumns={props.onColumns}
          />
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
            route={props.route}
            onEverything={props.onEverything}
            onDone={close}
          />
        )}
      </Menu>
    </>
  )
}
