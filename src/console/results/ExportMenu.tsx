import type { JsonObject } from "../../domain/json/Json.js"
import type { SessionView } from "../../http/console/Api.js"
import { alarm } from "../components/Announcer.js"
import { copyText, saveFile } from "../components/Clipboard.js"
import { plural } from "../components/Plural.js"
import type { Route } from "../navigation/Route.js"
import { cellValue, containsRounded } from "../values/Cell.js"
import { exportFormats, fileTypes, formatRows } from "./Export.js"
import { canExpress, queryCode, queryLanguages } from "./QueryCode.js"

/** Exports the shown rows and columns as files or to the clipboard, and the query as code. */
export const ExportMenu = (props: {
  readonly name: string
  readonly rows: ReadonlyArray<JsonObject>
  readonly columns: ReadonlyArray<string>
  readonly session: SessionView
  readonly route: Route
  readonly onEverything: (() => void) | undefined
  readonly onDone: () => void
}) => {
  const { columns, name, rows } = props
  const excel = async () => {
    try {
      const { workbook } = await import("./Workbook.js")
      saveFile(
        `${name}.xlsx`,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        await workbook(name, rows, columns)
      )
    } catch (cause) {
      alarm(`Could not create the workbook: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
  }
  return (
    <>
      <p class="menu-title">
        {plural(rows.length, "row")} × {plural(columns.length, "column")}, as shown
      </p>
      {props.onEverything === undefined ? null : (
        <p class="menu-title">
          More documents match.{" "}
          <button
            type="button"
            class="button small quiet"
            onClick={() => {
              props.onEverything?.()
              props.onDone()
            }}
          >
            Load them all first
          </button>
        </p>
      )}
      {rows.some((row) => columns.some((column) => containsRounded(cellValue(row, column) ?? null))) ? (
        <p class="menu-title">Numbers beyond 2^53 are rounded, as shown.</p>
      ) : null}
      <div class="export-grid">
        {exportFormats.map((format) => (
          <div class="export-row" key={format}>
            <span>{format}</span>
            <button
              type="button"
              class="button small quiet"
              aria-label={`Copy as ${format}`}
              onClick={() => {
                copyText(formatRows(format, rows, columns), `${plural(rows.length, "row")} as ${format}`)
                props.onDone()
              }}
            >
              Copy
            </button>
            <button
              type="button"
              class="button small quiet"
              aria-label={`Save as ${format}`}
              onClick={() => {
                const [ending, type] = fileTypes[format]
                saveFile(`${name}.${ending}`, type, formatRows(format, rows, columns))
                props.onDone()
              }}
            >
              Save
            </button>
          </div>
        ))}
        <div class="export-row">
          <span>Excel</span>
          <span />
          <button
            type="button"
            class="button small quiet"
            aria-label="Save as xlsx"
            onClick={() => {
              void excel()
              props.onDone()
            }}
          >
            Save
          </button>
        </div>
      </div>
      <p class="menu-title">This query as code</p>
      <div class="choices-all">
        {queryLanguages.map((code) => (
          <button
            type="button"
            class="button small quiet"
            key={code}
            aria-label={`Copy the query as ${code}`}
            disabled={!canExpress(code, props.route, rows)}
            title={
              canExpress(code, props.route, rows) ? undefined : "The command line cannot express this query"
            }
            onClick={() => {
              copyText(queryCode(code, props.session, props.route, rows), `the query as ${code}`)
              props.onDone()
            }}
          >
            {code}
          </button>
        ))}
      </div>
    </>
  )
}
