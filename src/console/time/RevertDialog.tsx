import { useEffect, useRef, useState } from "preact/hooks"
import type { RevertPreview } from "../../store/browse/Timeline.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce, counted } from "../Announcer.js"
import { Awaited } from "../Awaited.js"
import { RunButton } from "../Busy.js"
import type { DataSourceService } from "../DataSource.js"
import { useModal } from "../Focus.js"
import { useTask } from "../useTask.js"
import { DocumentChangeItems } from "./DocumentChangeList.js"

/** Asks before a commit is undone, and shows what that would write. */
export const RevertDialog = (props: {
  readonly source: DataSourceService
  readonly entry: HistoryEntry
  /** `unknown` when a revert had begun whose end was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (commit: string) => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  // The dialog fires its close event after it is removed, too.
  const done = useRef(false)
  const [preview, setPreview] = useState<RevertPreview | undefined>(undefined)
  const [round, setRound] = useState(0)
  const looking = useTask()
  const writing = useTask()
  const { entry, source } = props
  const short = entry.sha.slice(0, 7)
  useModal(dialog, () => document.getElementById(`revert-${entry.sha}`))

  useEffect(() => {
    looking.run(
      source.timeline((timeline) => timeline.previewRevert(entry.sha)),
      {
        success: (found) => {
          setPreview(found)
          announce(
            found.problem === null
              ? `The revert changes ${counted(found.total, "document")}.`
              : "The commit cannot be reverted."
          )
        }
      }
    )
  }, [round])

  const revert = () =>
    writing.run(
      source.timeline((timeline) => timeline.revert(entry.sha)),
      {
        success: (commit) => {
          done.current = true
          props.onDone(commit)
        }
      }
    )

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="revert-title"
      onClose={() => props.onClose(writing.running && !done.current)}
    >
      <h2 id="revert-title">
        Revert <code>{short}</code>?
      </h2>
      <p>
        <bdi>{entry.message.split("\n", 1)[0]}</bdi>
      </p>
      <p class="quiet-text">
        One new commit brings the documents of this one back to what they were before it. A document that has
        changed since keeps it from being made.
      </p>
      <Awaited
        arrived={preview !== undefined}
        problem={writing.problem ?? looking.problem}
        running={looking.running}
        onRetry={() => {
          writing.reset()
          setRound(round + 1)
        }}
      />
      {preview === undefined ? null : preview.problem !== null ? (
        <p class="banner">
          <span>
            It cannot be reverted: <bdi>{preview.problem}</bdi>. Restore single documents from their history
            instead.
          </span>
        </p>
      ) : (
        <>
          <DocumentChangeItems documents={preview.documents} before="Now" after="After the revert" />
          <p class="quiet-text">
            {counted(preview.total, "document")}
            {preview.total > preview.documents.length
              ? `, of which ${preview.documents.length} are shown`
              : ""}
            {preview.derived === 0
              ? ""
              : `, and ${counted(preview.derived, "file")} of indexes and manifests`}
            .
          </p>
        </>
      )}
      <div class="actions end">
        <button type="button" class="button quiet" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <RunButton
          kind="primary"
          running={writing.running}
          disabled={preview === undefined || preview.problem !== null}
          onClick={revert}
        >
          {writing.running ? "Reverting…" : "Revert in one commit"}
        </RunButton>
      </div>
    </dialog>
  )
}
