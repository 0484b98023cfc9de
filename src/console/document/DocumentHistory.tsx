import * as Effect from "effect/Effect"
import { useRef, useState } from "preact/hooks"
import type { StoredDocument } from "../../domain/document/Document.js"
import { differences } from "../../store/browse/Difference.js"
import type { HistoryEntry } from "../../store/Collection.js"
import { announce } from "../components/Announcer.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { DataSourceService } from "../source/DataSource.js"
import { DifferenceTable } from "../values/DifferenceTable.js"
import { CommitList, useCommits } from "./CommitList.js"
import { type RestoreCandidate, RestoreDialog } from "./RestoreDialog.js"

const page = 30

/** Marks a version whose file is not a valid document. */
const unreadable = "unreadable"
type Version = StoredDocument | null | typeof unreadable

const read = (document: Effect.Effect<StoredDocument | null, Problem>): Effect.Effect<Version, Problem> =>
  Effect.catchIf(
    document,
    (problem) => problem.kind === "unreadable",
    () => Effect.succeed(unreadable)
  )

const documentOf = (version: Version) => (version === unreadable ? null : version)

/** The commits of a document with their changes, and a button that restores each. */
export const DocumentHistory = (props: {
  readonly source: DataSourceService
  readonly collection: string
  readonly id: string
  readonly readOnly: boolean
  readonly onView: (sha: string) => void
  readonly onRestored: (document: StoredDocument) => void
}) => {
  const { collection, id, source } = props
  const commits = useCommits(source, collection, id, page)
  const [opened, setOpened] = useState<ReadonlyMap<string, ReturnType<typeof differences>>>(new Map())
  const [restoring, setRestoring] = useState<RestoreCandidate | undefined>(undefined)
  const reading = useEffectRunner()
  const versions = useRef(new Map<string, Version>())

  const version = (sha: string) =>
    Effect.suspend(() => {
      const cached = versions.current.get(sha)
      return cached !== undefined
        ? Effect.succeed(cached)
        : Effect.tap(read(source.document(collection, id, sha)), (document) =>
            Effect.sync(() => versions.current.set(sha, document))
          )
    })

  const toggle = (entry: HistoryEntry, previous: HistoryEntry | undefined) => {
    if (opened.has(entry.sha)) {
      setOpened((all) => new Map([...all].filter(([sha]) => sha !== entry.sha)))
      return
    }
    reading.run(
      Effect.all([previous === undefined ? Effect.succeed(null) : version(previous.sha), version(entry.sha)]),
      {
        success: ([before, after]) => {
          const changed = differences(documentOf(before), documentOf(after))
          setOpened((all) => new Map(all).set(entry.sha, changed))
          announce(
            before === unreadable || after === unreadable
              ? `A version at ${entry.sha.slice(0, 7)} is not a valid document.`
              : `${plural(changed.length, "field")} changed in ${entry.sha.slice(0, 7)}.`
          )
        }
      }
    )
  }

  const ask = (entry: HistoryEntry) =>
    reading.run(Effect.all([read(source.document(collection, id)), version(entry.sha)]), {
      success: ([current, target]) =>
        setRestoring({
          entry,
          current: documentOf(current),
          target: documentOf(target),
          // The store counts an invalid file as revision 0.
          rev: current === unreadable ? 0 : current?._rev,
          currentUnreadable: current === unreadable,
          targetUnreadable: target === unreadable
        })
    })

  return (
    <div class="history">
      <CommitList
        commits={commits}
        problem={reading.problem}
        onRetry={() => {
          reading.reset()
          commits.again()
        }}
        actions={(entry, previous, index) => (
          <>
            <button
              type="button"
              class="button small quiet"
              aria-expanded={opened.has(entry.sha)}
              disabled={reading.running || (previous === undefined && commits.hasMore)}
              aria-busy={reading.running}
              aria-label={`Changes in ${entry.sha.slice(0, 7)}`}
              onClick={() => toggle(entry, previous)}
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
            {index === 0 || props.readOnly ? null : (
              <RunButton
                kind="quiet"
                id={`restore-${entry.sha}`}
                running={reading.running}
                label={`Restore version ${entry.sha.slice(0, 7)}`}
                onClick={() => ask(entry)}
              >
                Restore…
              </RunButton>
            )}
          </>
        )}
        details={(entry, previous) => {
          const changed = opened.get(entry.sha)
          if (changed === undefined) return null
          const isUnreadable = (sha: string | undefined) =>
            sha !== undefined && versions.current.get(sha) === unreadable
          return isUnreadable(entry.sha) || isUnreadable(previous?.sha) ? (
            <p class="quiet-text">
              {isUnreadable(entry.sha)
                ? "Since this commit the file is not a valid document."
                : "Before this commit the file was not a valid document."}
            </p>
          ) : (
            <DifferenceTable
              caption={`Fields changed by ${entry.sha.slice(0, 7)}`}
              differences={changed}
              before="Before"
              after="After"
            />
          )
        }}
      />
      {props.readOnly ? (
        <p class="quiet-text">Read-only. To restore versions, sign in with a token that has write access.</p>
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
            announce(`Stopped waiting for the restore. The history shows whether it succeeded.`)
            commits.renew()
          }}
          onDone={(document) => {
            setRestoring(undefined)
            setOpened(new Map())
            commits.renew()
            props.onRestored(document)
          }}
        />
      )}
    </div>
  )
}
