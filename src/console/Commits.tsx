import { useEffect, useRef, useState } from "preact/hooks"
import type { HistoryEntry } from "../store/Collection.js"
import { alarm, announce, counted } from "./Announcer.js"
import { Awaited } from "./Awaited.js"
import { RunButton } from "./Busy.js"
import type { DataSourceService } from "./DataSource.js"
import { Icon } from "./Icon.js"
import type { Problem } from "./Problem.js"
import { useTask } from "./useTask.js"
import { When } from "./When.js"

const page = 50
/** As many as are asked for at once, at most. */
const most = 500

/** The commits of a collection; each of them is a moment at which its table can be looked at. */
export const Commits = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly at: string | undefined
  readonly onAt: (at: string | undefined) => void
  readonly onClose: () => void
}) => {
  const { collection, source } = props
  const [entries, setEntries] = useState<ReadonlyArray<HistoryEntry> | undefined>(undefined)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const [limit, setLimit] = useState(page)
  const [round, setRound] = useState(0)
  const heading = useRef<HTMLHeadingElement>(null)
  const task = useTask()

  useEffect(() => {
    heading.current?.focus()
  }, [collection])

  useEffect(() => {
    task.run(source.history(collection, undefined, limit), {
      success: (found) => {
        setProblem(undefined)
        setEntries(found)
        announce(`${counted(found.length, "commit")} of ${collection}.`)
      },
      failure: (failure) => {
        setProblem(failure)
        alarm(`${failure.title}. ${failure.message}`)
      }
    })
  }, [source, collection, limit, round])

  return (
    <aside
      class="panel"
      aria-label={`Commits of ${collection}`}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return
        event.stopPropagation()
        props.onClose()
      }}
    >
      <header class="panel-head">
        <div class="panel-title">
          <p class="eyebrow">
            <bdi>{collection}</bdi>
          </p>
          <h2 ref={heading} tabIndex={-1}>
            Commits
          </h2>
        </div>
        <button
          type="button"
          class="button icon-only quiet"
          aria-label="Close the commits"
          onClick={props.onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="panel-body">
        <p class="quiet-text">Choose a commit to see the table as it was then.</p>
        <Awaited
          arrived={entries !== undefined}
          problem={problem}
          running={task.running}
          onRetry={() => setRound(round + 1)}
        />
        {entries?.length === 0 ? <p>No commit has touched this collection.</p> : null}
        <ol class="timeline">
          {(entries ?? []).map((entry) => (
            <li key={entry.sha} aria-current={props.at === entry.sha ? "true" : undefined}>
              <div class="commit">
                <p class="commit-message">
                  <bdi>{entry.message.split("\n", 1)[0]}</bdi>
                </p>
                <p class="commit-facts">
                  <bdi>{entry.author}</bdi> · <When at={entry.date} /> ·{" "}
                  <code class="sha">{entry.sha.slice(0, 7)}</code>
                </p>
                <div class="commit-actions">
                  <button
                    type="button"
                    class="button small quiet"
                    aria-label={`Show the table at ${entry.sha.slice(0, 7)}`}
                    onClick={() => props.onAt(entry.sha)}
                  >
                    Show the table then
                  </button>
                </div>
              </div>
            </li>
          ))}
        </ol>
        {entries === undefined || entries.length < limit ? null : limit < most ? (
          <RunButton running={task.running} onClick={() => setLimit(Math.min(most, limit + page))}>
            Show older commits
          </RunButton>
        ) : (
          <p class="quiet-text">These are the newest {most} commits; Git itself shows what was before.</p>
        )}
        {props.at === undefined ? null : (
          <button
            type="button"
            class="button plain"
            onClick={() => {
              heading.current?.focus()
              props.onAt(undefined)
            }}
          >
            Back to now
          </button>
        )}
      </div>
    </aside>
  )
}
