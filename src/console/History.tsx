import * as Effect from "effect/Effect"
import { useEffect, useRef, useState } from "preact/hooks"
import type { StoredDocument } from "../domain/Document.js"
import { differences } from "../store/browse/Difference.js"
import type { HistoryEntry } from "../store/Collection.js"
import { alarm, announce, counted } from "./Announcer.js"
import { Awaited } from "./Awaited.js"
import { RunButton } from "./Busy.js"
import type { DataSourceService } from "./DataSource.js"
import { DifferenceTable } from "./DifferenceTable.js"
import type { Problem } from "./Problem.js"
import { RestoreDialog, type Restoring } from "./RestoreDialog.js"
import { useTask } from "./useTask.js"
import { When } from "./When.js"

const page = 30
/** As many as are asked for at once, at most. */
const most = 500

/** What stands for a version whose file holds no document. */
const unreadable = "unreadable"
type Version = StoredDocument | null | typeof unreadable

const read = (document: Effect.Effect<StoredDocument | null, Problem>): Effect.Effect<Version, Problem> =>
  Effect.catchIf(
    document,
    (problem) => problem.kind === "unreadable",
    () => Effect.succeed(unreadable)
  )

const documentOf = (version: Version) => (version === unreadable ? null : version)

/** The commits that changed a document, what each of them changed, and the way back to any of them. */
export const History = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly id: string
  readonly readOnly: boolean
  readonly onView: (sha: string) => void
  readonly onRestored: (document: StoredDocument) => void
}) => {
  const { collection, id, source } = props
  const [entries, setEntries] = useState<ReadonlyArray<HistoryEntry> | undefined>(undefined)
  const [limit, setLimit] = useState(page)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [opened, setOpened] = useState<ReadonlyMap<string, ReturnType<typeof differences>>>(new Map())
  const [restoring, setRestoring] = useState<Restoring | undefined>(undefined)
  const list = useTask()
  const look = useTask()
  const versions = useRef(new Map<string, Version>())
  const [round, setRound] = useState(0)

  useEffect(() => {
    list.run(source.history(collection, id, limit), {
      success: (found) => {
        setProblem(undefined)
        setEntries(found)
        // After a restore, which was told, the list is only read anew.
        if (round === 0) {
          announce(`${counted(found.length, "commit")} in the history of ${id}.`)
        }
      },
      failure: failed
    })
  }, [source, collection, id, limit, round])

  const failed = (failure: Problem) => {
    setProblem(failure)
    alarm(`${failure.title}. ${failure.message}`)
  }

  const version = (sha: string) =>
    Effect.suspend(() => {
      const known = versions.current.get(sha)
      return known !== undefined
        ? Effect.succeed(known)
        : Effect.tap(read(source.document(collection, id, sha)), (document) =>
            Effect.sync(() => versions.current.set(sha, document))
          )
    })

  const toggle = (entry: HistoryEntry, previous: HistoryEntry | undefined) => {
    if (opened.has(entry.sha)) {
      setOpened((all) => new Map([...all].filter(([sha]) => sha !== entry.sha)))
      return
    }
    look.run(
      Effect.all([previous === undefined ? Effect.succeed(null) : version(previous.sha), version(entry.sha)]),
      {
        success: ([before, after]) => {
          const changed = differences(documentOf(before), documentOf(after))
          setOpened((all) => new Map(all).set(entry.sha, changed))
          announce(
            before === unreadable || after === unreadable
              ? `A version beside ${entry.sha.slice(0, 7)} holds no readable document.`
              : `${counted(changed.length, "field")} changed in ${entry.sha.slice(0, 7)}.`
          )
        },
        failure: failed
      }
    )
  }

  const ask = (entry: HistoryEntry) =>
    look.run(Effect.all([read(source.document(collection, id)), version(entry.sha)]), {
      success: ([current, target]) =>
        setRestoring({
          entry,
          current: documentOf(current),
          target: documentOf(target),
          // A file that holds no document is at revision 0, as the store counts.
          rev: current === unreadable ? 0 : current?._rev,
          broken: current === unreadable,
          useless: target === unreadable
        }),
      failure: failed
    })

  return (
    <div class="history">
      <Awaited
        arrived={entries !== undefined}
        problem={problem}
        running={list.running}
        onRetry={() => setRound(round + 1)}
      />
      <ol class="timeline">
        {(entries ?? []).map((entry, i) => {
          const changed = opened.get(entry.sha)
          const last = i === (entries?.length ?? 0) - 1
          return (
            <li key={entry.sha}>
              <div class="commit">
                <p class="commit-message">
                  <bdi>{entry.message.split("\n", 1)[0]}</bdi>
                </p>
                <p class="commit-facts">
                  <bdi>{entry.author}</bdi> · <When at={entry.date} /> ·{" "}
                  <code class="sha" title={entry.sha}>
                    {entry.sha.slice(0, 7)}
                  </code>
                </p>
                <div class="commit-actions">
                  <button
                    type="button"
                    class="button small quiet"
                    aria-expanded={changed !== undefined}
                    disabled={look.running || (last && (entries?.length ?? 0) >= limit)}
                    aria-busy={look.running}
                    aria-label={`Changes in ${entry.sha.slice(0, 7)}`}
                    onClick={() => toggle(entry, entries?.[i + 1])}
                  >
                    Changes
                  </button>
                  <button
                    type="button"
                    class="button small quiet"
                    aria-label={`View version ${entry.sha.slice(0, 7)}`}
                    onClick={() => props.onView(entry.sha)}
                  >
                    View
                  </button>
                  {i === 0 || props.readOnly ? null : (
                    <RunButton
                      kind="quiet"
                      id={`restore-${entry.sha}`}
                      running={look.running}
                      label={`Restore version ${entry.sha.slice(0, 7)}`}
                      onClick={() => ask(entry)}
                    >
                      Restore…
                    </RunButton>
                  )}
                </div>
              </div>
              {changed === undefined ? null : [entries?.[i + 1]?.sha, entry.sha].some(
                  (sha) => sha !== undefined && versions.current.get(sha) === unreadable
                ) ? (
                <p class="quiet-text">
                  {versions.current.get(entry.sha) === unreadable
                    ? "Since this commit the file holds no readable document."
                    : "Before this commit the file held no readable document."}
                </p>
              ) : (
                <DifferenceTable
                  caption={`Fields changed by ${entry.sha.slice(0, 7)}`}
                  differences={changed}
                  before="Before"
                  after="After"
                />
              )}
            </li>
          )
        })}
      </ol>
      {entries === undefined || entries.length < limit ? null : limit < most ? (
        <RunButton running={list.running} onClick={() => setLimit(Math.min(most, limit + page))}>
          Show older commits
        </RunButton>
      ) : (
        <p class="quiet-text">These are the newest {most} commits; Git itself shows what was before.</p>
      )}
      {props.readOnly ? (
        <p class="quiet-text">Read-only: sign in with a token that may write to restore versions.</p>
      ) : null}
      {restoring === undefined ? null : (
        <RestoreDialog
          source={source}
          collection={collection}
          id={id}
          restoring={restoring}
          onClose={(unknown) => {
            setRestoring(undefined)
            if (!unknown) return
            announce(
              `Nobody waits for the restore any more: the history, read again, shows whether it was made.`
            )
            setRound(round + 1)
          }}
          onDone={(document) => {
            setRestoring(undefined)
            setOpened(new Map())
            setRound(round + 1)
            props.onRestored(document)
          }}
        />
      )}
    </div>
  )
}
