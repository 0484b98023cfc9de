import { useRef } from "preact/hooks"
import { Panel } from "../components/Panel.js"
import type { DataSourceService } from "../source/DataSource.js"
import { CommitList, useCommits } from "./CommitList.js"

const page = 50

/** The commits of a collection, and a button that shows the table at each. */
export const CommitsPanel = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly branch: string
  readonly at: string | undefined
  readonly onAt: (at: string | undefined) => void
  /** Opens the timeline of all collections. */
  readonly onAll: () => void
  readonly onClose: () => void
}) => {
  const { collection, source } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const commits = useCommits(source, collection, undefined, page)

  return (
    <Panel
      label={`Commits of ${collection}`}
      collection={collection}
      title="Commits"
      closes="commits"
      heading={heading}
      onClose={props.onClose}
    >
      <div class="panel-body">
        <p class="quiet-text">
          Commits on <bdi>{props.branch}</bdi> that changed <bdi>{collection}</bdi>, newest first.
          <button type="button" class="button small quiet" onClick={props.onAll}>
            All commits of the branch
          </button>
        </p>
        <CommitList
          commits={commits}
          current={props.at}
          empty={<p>No commits have changed this collection.</p>}
          onRetry={commits.again}
          actions={({ sha }) => (
            <button
              type="button"
              class="button small quiet"
              aria-label={`Show the table at ${sha.slice(0, 7)}`}
              onClick={() => props.onAt(sha)}
            >
              Show this version
            </button>
          )}
        />
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
    </Panel>
  )
}
