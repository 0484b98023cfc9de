import { useState } from "preact/hooks"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce } from "../components/Announcer.js"
import { Panel } from "../components/Panel.js"
import { CommitList, useCommits } from "../document/CommitList.js"
import type { DataSourceService } from "../source/DataSource.js"
import { DocumentChangeList } from "./DocumentChangeList.js"
import { RevertDialog } from "./RevertDialog.js"

const page = 50

/** All commits of the branch with their changes, and a button that reverts each. */
export const TimelinePanel = (props: {
  readonly source: DataSourceService
  readonly repository: string
  readonly branch: string
  readonly at: string | undefined
  readonly readOnly: boolean
  readonly onAt: (at: string) => void
  readonly onClose: () => void
  readonly onChanged: () => void
}) => {
  const { source } = props
  const commits = useCommits(source, undefined, undefined, page)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const [reverting, setReverting] = useState<HistoryEntry | undefined>(undefined)

  const toggle = (sha: string) =>
    setOpened((all) => new Set(all.has(sha) ? [...all].filter((one) => one !== sha) : [...all, sha]))

  return (
    <Panel
      label="Timeline"
      collection={props.repository}
      title="Timeline"
      closes="timeline"
      onClose={props.onClose}
    >
      <div class="panel-body">
        <p class="quiet-text">
          All commits on <bdi>{props.branch}</bdi>, newest first.
        </p>
        <CommitList
          commits={commits}
          current={props.at}
          empty={<p>The branch has no commits.</p>}
          onRetry={commits.again}
          actions={({ sha, ...entry }, previous) => (
            <>
              <button
                type="button"
                class="button small quiet"
                aria-expanded={opened.has(sha)}
                aria-label={`Changes in ${sha.slice(0, 7)}`}
                onClick={() => toggle(sha)}
              >
                Changes
              </button>
              <button
                type="button"
                class="button small quiet"
                aria-label={`Show the tables at ${sha.slice(0, 7)}`}
                onClick={() => props.onAt(sha)}
              >
                Show this version
              </button>
              {props.readOnly || (previous === undefined && !commits.hasMore) ? null : (
                <button
                  type="button"
                  class="button small quiet"
                  id={`revert-${sha}`}
                  aria-label={`Revert ${sha.slice(0, 7)}`}
                  onClick={() => setReverting({ sha, ...entry })}
                >
                  Revert…
                </button>
              )}
            </>
          )}
          details={({ sha }) =>
            opened.has(sha) ? (
              <DocumentChangeList
                name={sha}
                read={(offset) => source.timeline((timeline) => timeline.changes(sha, offset))}
                before="Before"
                after="After"
                empty="This commit changed no documents."
              />
            ) : null
          }
        />
      </div>
      {reverting === undefined ? null : (
        <RevertDialog
          source={source}
          entry={reverting}
          onClose={(unknown) => {
            setReverting(undefined)
            if (!unknown) return
            announce("Stopped waiting for the revert. The timeline shows whether it succeeded.")
            commits.renew()
          }}
          onDone={(commit) => {
            setReverting(undefined)
            announce(`${reverting.sha.slice(0, 7)} is reverted by ${commit.slice(0, 7)}.`)
            commits.renew()
            props.onChanged()
          }}
        />
      )}
    </Panel>
  )
}
