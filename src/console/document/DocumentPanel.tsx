import { useEffect, useRef, useState } from "preact/hooks"
import type { StoredDocument } from "../../domain/document/Document.js"
import { announce } from "../components/Announcer.js"
import { copyText, saveFile } from "../components/Clipboard.js"
import { Icon } from "../components/Icon.js"
import { Panel } from "../components/Panel.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { RowStep } from "../results/table/RowSteps.js"
import type { DataSourceService } from "../source/DataSource.js"
import { containsRounded, shortCommit } from "../values/Cell.js"
import { JsonViewer, loadJsonView } from "../values/JsonViewer.js"
import { DocumentHistory } from "./DocumentHistory.js"

/** A document at the current or an earlier commit, and its history. */
export const DocumentPanel = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly id: string
  /** The commit of the document, and that of the table. */
  readonly at: string | undefined
  readonly tableAt: string | undefined
  readonly tab: "document" | "history"
  readonly readOnly: boolean
  readonly onTab: (tab: "document" | "history") => void
  readonly onVersion: (at: string | undefined) => void
  readonly onNow: () => void
  /** Opens the document of the next or the previous row; undefined without a table. */
  readonly onStep: RowStep | undefined
  readonly onClose: () => void
  readonly onEdit: () => void
  readonly onChanged: () => void
}) => {
  const { at, collection, id, onStep, source, tab, tableAt } = props
  const [document, setDocument] = useState<StoredDocument | null | undefined>(undefined)
  const [round, setRound] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  const task = useEffectRunner()
  const shownKey = JSON.stringify([collection, id, at])
  const shown = useRef<string | undefined>(undefined)

  // Loads the viewer while the document is read. The viewer itself reports a failure.
  useEffect(() => {
    loadJsonView().catch(() => undefined)
  }, [])

  useEffect(() => {
    setDocument(undefined)
    task.reset()
    task.run(source.document(collection, id, at), {
      success: (found) => {
        setDocument(found)
        // After a restore the document is reloaded without an announcement.
        if (shown.current === shownKey) return
        shown.current = shownKey
        announce(
          found === null ? `${id} does not exist at this commit.` : `${id} is open, revision ${found._rev}.`
        )
      }
    })
  }, [source, collection, id, at, round])

  // The pressed button is removed, so the heading gets the focus.
  const show = (change: () => void) => {
    heading.current?.focus()
    change()
  }

  const name = `${collection}/${id}`
  return (
    <Panel
      label={`Document ${name}`}
      collection={collection}
      title={id}
      closes="document"
      heading={heading}
      actions={
        onStep === undefined
          ? undefined
          : ([-1, 1] as const).map((by) => (
              <button
                key={by}
                type="button"
                class="button icon-only quiet"
                aria-label={by < 0 ? "Previous document" : "Next document"}
                onClick={() => onStep(by)}
              >
                <Icon name={by < 0 ? "up" : "down"} />
              </button>
            ))
      }
      onClose={props.onClose}
    >
      {at === undefined ? null : (
        <p class="banner">
          <Icon name="clock" />
          Version at <code title={at}>{shortCommit(at)}</code>
          {at === tableAt ? null : (
            <button
              type="button"
              class="button small quiet"
              onClick={() => show(() => props.onVersion(undefined))}
            >
              {tableAt === undefined ? "Back to now" : "Same version as the table"}
            </button>
          )}
          {tableAt === undefined ? null : (
            <button type="button" class="button small quiet" onClick={() => show(props.onNow)}>
              Show both now
            </button>
          )}
        </p>
      )}
      <nav class="tabs" aria-label="Document views">
        <button
          type="button"
          class="tab"
          aria-pressed={tab === "document"}
          onClick={() => props.onTab("document")}
        >
          Document
        </button>
        <button
          type="button"
          class="tab"
          aria-pressed={tab === "history"}
          onClick={() => props.onTab("history")}
        >
          History
        </button>
        <div class="together">
          {props.readOnly || at !== undefined ? null : (
            <button type="button" class="button small plain" id="edit" onClick={props.onEdit}>
              Edit
            </button>
          )}
          <button
            type="button"
            class="button small quiet"
            disabled={document === undefined || document === null}
            onClick={() => copyText(`${JSON.stringify(document, null, 2)}\n`, name)}
          >
            <Icon name="copy" />
            Copy JSON
          </button>
          <button
            type="button"
            class="button small quiet"
            disabled={document === undefined || document === null}
            onClick={() =>
              saveFile(`${id}.json`, "application/json", `${JSON.stringify(document, null, 2)}\n`)
            }
          >
            <Icon name="save" />
            Save
          </button>
        </div>
      </nav>
      <div class="panel-body">
        {task.problem === undefined || tab === "history" ? null : (
          <ProblemCard problem={task.problem}>
            <RunButton running={task.running} onClick={() => setRound(round + 1)}>
              Try again
            </RunButton>
          </ProblemCard>
        )}
        {tab === "history" ? (
          <DocumentHistory
            source={source}
            collection={collection}
            id={id}
            readOnly={props.readOnly}
            onView={(sha) => show(() => props.onVersion(sha))}
            onRestored={() => {
              shown.current = shownKey
              setRound(round + 1)
              props.onChanged()
            }}
          />
        ) : document === undefined ? (
          task.problem === undefined ? (
            <div class="skeleton-lines" aria-hidden="true">
              <span />
              <span />
              <span />
              <span />
            </div>
          ) : null
        ) : document === null ? (
          <div class="empty">
            <h3>Not here</h3>
            <p>
              The document does not exist{at === undefined ? " (any more)" : " at this commit"}. Its history
              may still have it.
            </p>
          </div>
        ) : (
          <>
            {containsRounded(document) ? (
              <p class="banner">
                A number here is beyond 2^53: it is shown as JavaScript holds it, the last digits in the file
                may differ.
              </p>
            ) : null}
            <JsonViewer key={`${id}@${at ?? ""}@${document._rev}`} document={document} name={name} />
          </>
        )}
      </div>
    </Panel>
  )
}
