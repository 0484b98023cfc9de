import { plural } from "../components/Plural.js"
import { DifferenceTable } from "../values/DifferenceTable.js"
import type { ImportedChange } from "./ImportChanges.js"

/** Changed documents that are listed. */
const maxListed = 50

const badges = {
  insert: ["new", "added"],
  replace: ["changed", "changed"],
  unreadable: ["replaced, cannot be read", "changed"]
} as const

/** What an import would change, document by document. */
export const ImportPreview = (props: {
  readonly changes: ReadonlyArray<ImportedChange>
  /** All rows that are imported, also those whose documents were not looked up yet. */
  readonly rows: number
}) => {
  const { changes, rows } = props
  const count = (...actions: ReadonlyArray<ImportedChange["action"]>) =>
    changes.filter(({ action }) => actions.includes(action)).length
  const listed = changes.flatMap(({ action, fields, id }) =>
    action === "unchanged" ? [] : [{ id, fields, badge: badges[action] }]
  )
  return (
    <section class="import-preview" aria-label="Preview of the import">
      <p>
        {count("insert")} new, {count("replace", "unreadable")} changed, {count("unchanged")} unchanged
        {changes.length === rows ? "." : `, of ${changes.length} documents looked up so far.`}
      </p>
      {listed.slice(0, maxListed).map(({ badge: [label, kind], fields, id }) => (
        <details key={id} class="files">
          <summary>
            <bdi>{id}</bdi> <span class={`badge ${kind}`}>{label}</span>
          </summary>
          <DifferenceTable caption={`Changes in ${id}`} differences={fields} before="Now" after="Imported" />
        </details>
      ))}
      {listed.length > maxListed ? <p>…and {plural(listed.length - maxListed, "more document")}.</p> : null}
    </section>
  )
}
