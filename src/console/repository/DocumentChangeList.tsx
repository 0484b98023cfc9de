import type * as Effect from "effect/Effect"
import { useEffect, useState } from "preact/hooks"
import { differences } from "../../store/browse/Difference.js"
import type { DocumentChange, DocumentChanges } from "../../store/browse/Timeline.js"
import { announce } from "../components/Announcer.js"
import { LoadingState } from "../components/LoadingState.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import { DifferenceTable } from "../values/DifferenceTable.js"

/** The changed documents of a comparison with their changed fields. */
export const DocumentChangeItems = (props: {
  readonly documents: ReadonlyArray<DocumentChange>
  readonly before: string
  readonly after: string
}) => (
  <ul class="changes">
    {props.documents.map(({ after, before, collection, id, kind, unreadable }) => (
      <li key={`${collection}/${id}`}>
        <p class="change-name">
          <bdi>
            {collection}/{id}
          </bdi>{" "}
          <span class={`badge ${kind}`}>{kind}</span>
        </p>
        {unreadable ? (
          <p class="quiet-text">One of the two versions is not a valid document.</p>
        ) : (
          <DifferenceTable
            caption={`Fields of ${collection}/${id}`}
            differences={differences(before, after)}
            before={props.before}
            after={props.after}
          />
        )}
      </li>
    ))}
  </ul>
)

/** The documents that differ between two commits, loaded page by page. */
export const DocumentChangeList = (props: {
  /** The key of the comparison: another key reloads it. */
  readonly name: string
  readonly read: (offset: number) => Effect.Effect<DocumentChanges, Problem>
  readonly before: string
  readonly after: string
  readonly empty: string
}) => {
  const [found, setFound] = useState<DocumentChanges | undefined>(undefined)
  const [round, setRound] = useState(0)
  const task = useEffectRunner()
  const more = (shown: DocumentChanges | undefined) =>
    task.run(props.read(shown?.documents.length ?? 0), {
      success: ({ documents, total }) => {
        const all = [...(shown?.documents ?? []), ...documents]
        setFound({ total, documents: all })
        announce(
          all.length === total
            ? `${plural(total, "document")} changed.`
            : `${all.length} of ${plural(total, "changed document")} are shown.`
        )
      }
    })
  useEffect(() => {
    setFound(undefined)
    more(undefined)
  }, [props.name, round])
  return (
    <div class="change-list" aria-busy={task.running}>
      <LoadingState
        loaded={found !== undefined}
        problem={task.problem}
        running={task.running}
        onRetry={() => setRound(round + 1)}
      />
      {found?.total === 0 ? <p class="quiet-text">{props.empty}</p> : null}
      {found === undefined ? null : (
        <DocumentChangeItems documents={found.documents} before={props.before} after={props.after} />
      )}
      {found === undefined || found.documents.length >= found.total ? null : (
        <p class="commit-actions">
          <progress max={found.total} value={found.documents.length} aria-label="Documents shown" />
          <RunButton running={task.running} onClick={() => more(found)}>
            Show more of {found.total.toLocaleString("en")} documents
          </RunButton>
        </p>
      )}
    </div>
  )
}
