import type * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Json } from "../../domain/json/Json.js"
import { printPath } from "../../store/browse/Difference.js"
import type { ConflictDecision, MergeChoice, MergePreview } from "../../store/browse/Timeline.js"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { LoadingState } from "../components/LoadingState.js"
import { plural } from "../components/Plural.js"
import type { Problem } from "../components/Problem.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import { cellText, truncated } from "../values/Cell.js"

type Side = "ours" | "theirs" | "both"

const Value = ({ value }: { readonly value: Json | undefined }) =>
  value === undefined ? <span class="nothing">nothing</span> : <bdi>{truncated(cellText(value))}</bdi>

/** A value that both branches changed, and the choice of a side or of both. */
const Choice = (props: {
  readonly choice: MergeChoice
  readonly name: string
  readonly from: string
  readonly into: string
  readonly taken: Side | undefined
  readonly onTake: (side: Side) => void
}) => {
  const { choice, name, taken } = props
  const { both } = choice
  const sides: ReadonlyArray<readonly [side: Side, label: string, value: Json | undefined]> = [
    ["ours", props.into, choice.ours],
    ["theirs", props.from, choice.theirs],
    ...(both === undefined ? [] : [["both", "Both", both] as const])
  ]
  const field = choice.path.length === 0 ? "Whole value" : printPath(choice.path)
  return (
    <fieldset class="choice">
      <legend>
        <bdi>{field}</bdi>
      </legend>
      <p class="quiet-text">
        Base: <Value value={choice.base} />
      </p>
      {sides.map(([side, label, value]) => (
        <label class="inline-check" key={side}>
          <input type="radio" name={name} checked={taken === side} onChange={() => props.onTake(side)} />
          <span>
            <bdi>{label}</bdi>: <Value value={value} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** The preview of a merge. Every conflict must be resolved before it can be merged. */
export const MergeDialog = <P extends MergePreview>(props: {
  readonly title: ComponentChildren
  /** The id of the button that opened the dialog. */
  readonly opener: string
  readonly words: { readonly write: string; readonly writing: string }
  /** The names of the two sides. */
  readonly from: string
  readonly into: string
  readonly preview: Effect.Effect<P, Problem>
  readonly write: (
    decisions: ReadonlyArray<ConflictDecision>,
    preview: P
  ) => Effect.Effect<string | null, Problem>
  /** `unknown`: a merge was started and its result was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (commit: string | null) => void
}) => {
  const [preview, setPreview] = useState<P | undefined>(undefined)
  const [taken, setTaken] = useState<ReadonlyMap<string, Side>>(new Map())
  const [round, setRound] = useState(0)
  const looking = useEffectRunner()
  const { from, into } = props

  useEffect(() => {
    setPreview(undefined)
    looking.run(props.preview, {
      success: (found) => {
        setPreview(found)
        announce(
          found.kind === "upToDate"
            ? "There is nothing to merge."
            : `${plural(found.total, "document")} and ${plural(found.conflicts.length, "conflict")}.`
        )
      }
    })
  }, [round])

  const keyOf = (digest: string, path: string, at: number) => `${digest} ${at} ${path}`
  const conflicts = preview?.conflicts ?? []
  const decisions = conflicts.flatMap(({ choices, digest, path }): ReadonlyArray<ConflictDecision> => {
    const take = choices.flatMap((choice, at) => {
      const side = taken.get(keyOf(digest, path, at))
      if (side !== "both") return side ?? []
      return choice.both === undefined ? [] : { value: choice.both }
    })
    return take.length === choices.length ? [{ path, digest, take }] : []
  })
  const undecided = conflicts.length - decisions.length

  const isReady = preview !== undefined && preview.kind !== "upToDate" && undecided === 0

  return (
    <ConfirmDialog
      title={props.title}
      opener={props.opener}
      words={{
        ...props.words,
        ...(preview?.kind === "upToDate" ? { cancel: "Close" } : {})
      }}
      write={isReady ? props.write(decisions, preview) : undefined}
      onRetry={() => setRound(round + 1)}
      onClose={props.onClose}
      onDone={props.onDone}
    >
      <LoadingState
        loaded={preview !== undefined}
        problem={looking.problem}
        running={looking.running}
        onRetry={() => setRound(round + 1)}
      />
      {preview === undefined ? null : preview.kind === "upToDate" ? (
        <p>
          <bdi>{into}</bdi> already contains <bdi>{from}</bdi>.
        </p>
      ) : (
        <>
          <p class="quiet-text">
            {preview.kind === "fastForward"
              ? "The branch has no commits of its own, so it moves forward to the other one."
              : "This creates a merge commit."}{" "}
            {plural(preview.total, "document")} changed
            {conflicts.length === 0 ? "." : `, ${plural(conflicts.length, "conflict")}.`}
          </p>
          <ul class="changes">
            {preview.documents.map(({ collection, id, kind }) => (
              <li key={`${collection}/${id}`}>
                <bdi>
                  {collection}/{id}
                </bdi>{" "}
                <span class={`badge ${kind}`}>{kind}</span>
              </li>
            ))}
          </ul>
          {preview.total > preview.documents.length ? (
            <p class="quiet-text">
              …and {(preview.total - preview.documents.length).toLocaleString("en")} more.
            </p>
          ) : null}
          {conflicts.map(({ choices, digest, path, problem }) => (
            <section class="conflict" key={path} aria-label={`Conflict in ${path}`}>
              <h3>
                <bdi>{path}</bdi>
              </h3>
              <p class="quiet-text">
                <bdi>{problem}</bdi>
              </p>
              {choices.map((choice, at) => {
                const key = keyOf(digest, path, at)
                return (
                  <Choice
                    key={key}
                    choice={choice}
                    name={key}
                    from={from}
                    into={into}
                    taken={taken.get(key)}
                    onTake={(side) => setTaken(new Map(taken).set(key, side))}
                  />
                )
              })}
            </section>
          ))}
          {undecided === 0 ? null : (
            <p class="banner">{plural(undecided, "conflict")} to resolve before you can merge.</p>
          )}
        </>
      )}
    </ConfirmDialog>
  )
}
