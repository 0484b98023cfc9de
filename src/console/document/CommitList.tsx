import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce } from "../components/Announcer.js"
import { LoadingState } from "../components/LoadingState.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { RelativeTime } from "../components/RelativeTime.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"

/** The maximum number of commits per request. */
const most = 500

/**
 * The newest commits of a document, of a collection (no id), or of the branch (no collection), in pages of `size`.
 */
export const useCommits = (
  source: DataSourceService,
  collection: string | undefined,
  id: string | undefined,
  size: number
) => {
  const [entries, setEntries] = useState<ReadonlyArray<HistoryEntry> | undefined>(undefined)
  const [limit, setLimit] = useState(size)
  const [round, setRound] = useState(0)
  const quiet = useRef(false)
  const task = useEffectRunner()
  useEffect(() => {
    const read =
      collection === undefined
        ? source.timeline((timeline) => timeline.commits(limit))
        : source.history(collection, id, limit)
    task.run(read, {
      success: (found) => {
        setEntries(found)
        if (!quiet.current) {
          announce(
            `${plural(found.length, "commit")} ${id === undefined ? `of ${collection ?? "the branch"}` : `in the history of ${id}`}.`
          )
        }
        quiet.current = false
      }
    })
  }, [source, collection, id, limit, round])
  return {
    entries,
    running: task.running,
    problem: task.problem,
    hasMore: entries !== undefined && entries.length >= limit,
    isFull: limit >= most,
    older: () => setLimit(Math.min(most, limit + size)),
    again: () => setRound((n) => n + 1),
    /** Reads the commits again without an announcement. */
    renew: () => {
      quiet.current = true
      setRound((n) => n + 1)
    }
  }
}

/** A list of commits with their buttons. */
export const CommitList = (props: {
  readonly commits: ReturnType<typeof useCommits>
  /** A problem of a button, shown if the list has none. */
  readonly problem?: Problem | undefined
  readonly current?: string | undefined
  readonly empty?: ComponentChildren
  readonly actions: (
    entry: HistoryEntry,
    previous: HistoryEntry | undefined,
    index: number
  ) => ComponentChildren
  readonly details?: (entry: HistoryEntry, previous: HistoryEntry | undefined) => ComponentChildren
  readonly onRetry: () => void
}) => {
  const { entries, hasMore, isFull, older, problem, running } = props.commits
  return (
    <>
      <LoadingState
        loaded={entries !== undefined}
        problem={problem ?? props.problem}
        running={running}
        onRetry={props.onRetry}
      />
      {entries?.length === 0 ? props.empty : null}
      <ol class="timeline">
        {(entries ?? []).map((entry, index) => {
          const previous = entries?.[index + 1]
          return (
            <li key={entry.sha} aria-current={props.current === entry.sha ? "true" : undefined}>
              <div class="commit">
                <p class="commit-message">
                  <bdi>{entry.message.split("\n", 1)[0]}</bdi>
                </p>
                <p class="commit-facts">
                  <bdi>{entry.author}</bdi> · <RelativeTime at={entry.date} /> ·{" "}
                  <code class="sha" title={entry.sha}>
                    {entry.sha.slice(0, 7)}
                  </code>
                </p>
                <div class="commit-actions">{props.actions(entry, previous, index)}</div>
              </div>
              {props.details?.(entry, previous)}
            </li>
          )
        })}
      </ol>
      {!hasMore ? null : isFull ? (
        <p class="quiet-text">Only the newest {most} commits are shown. Use git log for older ones.</p>
      ) : (
        <RunButton running={running} onClick={older}>
          Show older commits
        </RunButton>
      )}
    </>
  )
}
