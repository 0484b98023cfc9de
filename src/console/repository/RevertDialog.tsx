import { useEffect, useState } from "preact/hooks"
import type { RevertPreview } from "../../store/browse/Timeline.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { LoadingState } from "../components/LoadingState.js"
import { plural } from "../components/Plural.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"
import { contentOf } from "../values/DifferenceTable.js"
import { DocumentChangeItems } from "./DocumentChangeList.js"

/** Asks for confirmation before a revert, with a preview. */
export const RevertDialog = (props: {
  readonly source: DataSourceService
  readonly entry: HistoryEntry
  /** `unknown`: a revert was started and its result was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (commit: string) => void
}) => {
  const [preview, setPreview] = useState<RevertPreview | undefined>(undefined)
  const [round, setRound] = useState(0)
  const looking = useEffectRunner()
  const { entry, source } = props
  const short = entry.sha.slice(0, 7)

  useEffect(() => {
    looking.run(
      source.timeline((timeline) => timeline.previewRevert(entry.sha)),
      {
        success: (found) => {
          setPreview(found)
          announce(
            found.problem === null
              ? `The revert changes ${plural(found.total, "document")}.`
              : "The commit cannot be reverted."
          )
        }
      }
    )
  }, [round])

  return (
    <ConfirmDialog
      title={
        <>
          Revert <code>{short}</code>?
        </>
      }
      opener={`revert-${entry.sha}`}
      words={{ write: "Revert", writing: "Reverting…" }}
      write={
        preview?.problem === null ? source.timeline((timeline) => timeline.revert(entry.sha)) : undefined
      }
      onRetry={() => setRound(round + 1)}
      onClose={props.onClose}
      onDone={props.onDone}
    >
      <p>
        <bdi>{entry.message.split("\n", 1)[0]}</bdi>
      </p>
      <p class="quiet-text">
        A new commit undoes the changes of this one. This is not possible if one of its documents has changed
        since.
      </p>
      <LoadingState
        loaded={preview !== undefined}
        problem={looking.problem}
        running={looking.running}
        onRetry={() => setRound(round + 1)}
      />
      {preview === undefined ? null : preview.problem !== null ? (
        <p class="banner">
          <span>
            This commit cannot be reverted: <bdi>{preview.problem}</bdi>. Restore single documents from their
            history instead.
          </span>
        </p>
      ) : (
        <>
          <DocumentChangeItems
            documents={preview.documents.map((change) => ({
              ...change,
              before: contentOf(change.before),
              after: contentOf(change.after)
            }))}
            before="Now"
            after="After the revert"
          />
          <p class="quiet-text">
            {plural(preview.total, "document")}
            {preview.total > preview.documents.length
              ? `, of which ${preview.documents.length} are shown`
              : ""}
            {preview.derived === 0 ? "" : `, and ${plural(preview.derived, "file")} of indexes and manifests`}
            .
          </p>
        </>
      )}
    </ConfirmDialog>
  )
}
