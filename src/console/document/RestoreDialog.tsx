import { useMemo } from "preact/hooks"
import type { StoredDocument } from "../../domain/document/Document.js"
import { differences } from "../../store/browse/Difference.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import type { DataSourceService } from "../source/DataSource.js"
import { contentOf, DifferenceTable } from "../values/DifferenceTable.js"

export interface RestoreCandidate {
  readonly entry: HistoryEntry
  readonly current: StoredDocument | null
  readonly target: StoredDocument | null
  /** The expected current revision; undefined if there is no document. */
  readonly rev: number | undefined
  /** Whether the current file is not a valid document. */
  readonly currentUnreadable: boolean
  /** Whether the version to restore is not a valid document. */
  readonly targetUnreadable: boolean
}

/** Asks for confirmation before a restore, with a preview. */
export const RestoreDialog = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly id: string
  readonly restoring: RestoreCandidate
  /** `unknown`: a restore was started and its result was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (document: StoredDocument) => void
}) => {
  const { collection, id, source } = props
  const {
    currentUnreadable: broken,
    current,
    entry,
    rev,
    target,
    targetUnreadable: useless
  } = props.restoring
  const short = entry.sha.slice(0, 7)
  const changed = useMemo(() => differences(contentOf(current), contentOf(target)), [current, target])

  return (
    <ConfirmDialog
      title={
        <>
          Restore <bdi>{id}</bdi> from <code>{short}</code>?
        </>
      }
      opener={`restore-${entry.sha}`}
      words={{ write: "Restore", writing: "Restoring…" }}
      write={target === null ? undefined : source.restore(collection, id, entry.sha, rev)}
      onClose={props.onClose}
      onDone={(restored) => {
        announce(`${id} is restored from ${short} as revision ${restored._rev}.`)
        props.onDone(restored)
      }}
    >
      <p>
        This version is saved again as a new commit. History is not rewritten, so you can undo this the same
        way.
      </p>
      {broken ? <p class="quiet-text">The current file is not a valid document.</p> : null}
      {target === null ? (
        <p class="quiet-text">
          {useless
            ? "The file was not a valid document at this commit. There is nothing to restore."
            : "The document did not exist at this commit. There is nothing to restore."}
        </p>
      ) : (
        <DifferenceTable
          caption={broken ? "The document that replaces the invalid file" : "Changes made by the restore"}
          differences={changed}
          before="Now"
          after={`After the restore`}
        />
      )}
    </ConfirmDialog>
  )
}
