import { useEffect, useState } from "preact/hooks"
import type { SessionView } from "../../http/console/Api.js"
import { LoadingState } from "../components/LoadingState.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"

/** Says that the data root has no collections, and offers other data roots. */
export const NoCollections = (props: {
  readonly source: DataSourceService
  readonly session: SessionView
  readonly onSession: (session: SessionView) => void
  readonly onSignOut: () => void
}) => {
  const { session, source } = props
  const [found, setFound] = useState<ReadonlyArray<string> | undefined>(undefined)
  const task = useEffectRunner()
  const look = () => task.run(source.roots.list, { success: setFound })
  useEffect(look, [source])
  const others = found?.filter((root) => root !== session.root) ?? []
  return (
    <div class="empty">
      <p>
        {session.root === "" ? (
          "The repository"
        ) : (
          <>
            The data root <code>{session.root}</code>
          </>
        )}{" "}
        has no collections on branch <bdi>{session.branch}</bdi>.
      </p>
      <LoadingState
        loaded={found !== undefined}
        problem={task.problem}
        running={task.running}
        onRetry={look}
      />
      {others.length === 0 ? null : (
        <>
          <p>
            {others.length === 1 ? "This data root has collections:" : "These data roots have collections:"}
          </p>
          <div class="actions">
            {others.map((root) => (
              <RunButton
                key={root}
                running={task.running}
                onClick={() => task.run(source.roots.open(root), { success: props.onSession })}
              >
                <bdi>{root === "" ? "/ (the whole repository)" : root}</bdi>
              </RunButton>
            ))}
          </div>
        </>
      )}
      {found !== undefined && others.length === 0 ? <p>No other directory has collections.</p> : null}
      <p>
        To create a collection, add a document with <code>chainstore put</code>, then refresh the list.
      </p>
      <button type="button" class="button plain" onClick={props.onSignOut}>
        Sign in with another root
      </button>
    </div>
  )
}
