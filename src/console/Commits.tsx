import { useEffect, useRef, useState } from "preact/hooks"
import type { HistoryEntry } from "../store/Collection.js"
import { alarm, announce } from "./Announcer.js"
import type { DataSourceService } from "./DataSource.js"
import { Icon } from "./Icon.js"
import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"
import { useTask } from "./useTask.js"
import { When } from "./When.js"

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
  const heading = useRef<HTMLHeadingElement>(null)
  const task = useTask()

  useEffect(() => {
    heading.current?.focus()
  }, [collection])

  useEffect(() => {
    task.run(source.history(collection, undefined, 50), {
      success: (found) => {
        setEntries(found)
        announce(`${found.length} commits of ${collection}.`)
      },
      failure: (failure) => {
        setProblem(failure)
        alarm(`${failure.title}. ${failure.message}`)
      }
    })
  }, [source, collection])

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
        {problem === undefined ? null : <ProblemCard problem={problem} />}
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
        {props.at === undefined ? null : (
          <button type="button" class="button plain" onClick={() => props.onAt(undefined)}>
            Back to now
          </button>
        )}
      </div>
    </aside>
  )
}
