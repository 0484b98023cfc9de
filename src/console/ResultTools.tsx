import type { JsonObject } from "../domain/Document.js"
import type { SessionView } from "../http/console/Api.js"
import { alarm } from "./Announcer.js"
import { copyText, saveFile } from "./Clipboard.js"
import { queryAs } from "./CopyAs.js"
import { endings, formats, write } from "./Export.js"
import { Menu } from "./Menu.js"
import type { Place } from "./Place.js"

const codes = ["TypeScript", "Command line", "curl"] as const

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
  const excel = async () => {
    try {
      const { workbook } = await import("./Workbook.js")
      saveFile(
        `${name}.xlsx`,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        await workbook(name, rows, columns)
      )
    } catch (cause) {
      alarm(`The workbook could not be made: ${cause instanceof Error ? cause.message : String(cause)}`)
    }
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
          <>
            <p class="menu-title">
              {rows.length} rows × {columns.length} columns, as shown
            </p>
            <div class="export-grid">
              {formats.map((format) => (
                <div class="export-row" key={format}>
                  <span>{format}</span>
                  <button
                    type="button"
                    class="button small quiet"
                    aria-label={`Copy as ${format}`}
                    onClick={() => {
                      copyText(write(format, rows, columns), `${rows.length} rows as ${format}`)
                      close()
                    }}
                  >
                    Copy
                  </button>
                  <button
                    type="button"
                    class="button small quiet"
                    aria-label={`Save as ${format}`}
                    onClick={() => {
                      const [ending, type] = endings[format]
                      saveFile(`${name}.${ending}`, type, write(format, rows, columns))
                      close()
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
                    close()
                  }}
                >
                  Save
                </button>
              </div>
            </div>
            <p class="menu-title">This query as code</p>
            <div class="choices-all">
              {codes.map((code) => (
                <button
                  type="button"
                  class="button small quiet"
                  key={code}
                  aria-label={`Copy the query as ${code}`}
                  onClick={() => {
                    copyText(queryAs(code, props.session, props.place), `the query as ${code}`)
                    close()
                  }}
                >
                  {code}
                </button>
              ))}
            </div>
          </>
        )}
      </Menu>
    </>
  )
}
