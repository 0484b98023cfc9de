import { differences } from "../../../store/browse/Difference.js"
import type { EditState, ReviewedEdit } from "../../../store/browse/StagedEdits.js"
import { DifferenceTable } from "../../values/DifferenceTable.js"
import type { Field } from "../form/Field.js"
import { FormProblems } from "../form/FormProblems.js"
import { ConflictCard, type Decision } from "./ConflictCard.js"
import { nameOf } from "./useReview.js"

const stateBadges: Readonly<Record<EditState, readonly [label: string, badge: string]>> = {
  create: ["new", "added"],
  change: ["changed", "changed"],
  merge: ["merged", "changed"],
  delete: ["deleted", "removed"],
  none: ["already published", ""],
  conflict: ["conflict", "removed"],
  invalid: ["not valid", "removed"]
}

/** The name of a draft, and its buttons. */
export const DraftHeader = (props: {
  readonly name: string
  readonly badge?: readonly [label: string, kind: string]
  readonly onEdit?: () => void
  readonly onDiscard: () => void
}) => {
  const { name } = props
  const [label, kind] = props.badge ?? []
  return (
    <header class="actions">
      <h3>
        <bdi>{name}</bdi> {label === undefined ? null : <span class={`badge ${kind}`}>{label}</span>}
      </h3>
      <span class="grow" />
      {props.onEdit === undefined ? null : (
        <button type="button" class="button small quiet" aria-label={`Edit ${name}`} onClick={props.onEdit}>
          Edit
        </button>
      )}
      <button
        type="button"
        class="button small quiet"
        aria-label={`Discard the draft of ${name}`}
        onClick={props.onDiscard}
      >
        Discard
      </button>
    </header>
  )
}

/** A reviewed draft: the fields that it changes, or its conflict. */
export const ReviewedDraft = (props: {
  readonly edit: ReviewedEdit
  /** The fields that do not fit the schema of the collection. */
  readonly objections: ReadonlyArray<Field>
  readonly onEdit: () => void
  readonly onDiscard: () => void
  readonly onResolve: (decision: Decision) => void
}) => {
  const { edit } = props
  const { after, before, conflict, problem, state } = edit
  const name = nameOf(edit)
  return (
    <article class="reviewed" aria-label={name}>
      <DraftHeader name={name} badge={stateBadges[state]} onEdit={props.onEdit} onDiscard={props.onDiscard} />
      {problem === undefined ? null : <p class="wrong">{problem}</p>}
      <FormProblems fields={props.objections} onField={props.onEdit} />
      {conflict !== undefined ? (
        <ConflictCard name={name} conflict={conflict} onDecide={props.onResolve} />
      ) : state === "invalid" ? null : (
        <DifferenceTable
          caption={`Changes in ${name}`}
          differences={differences(before, after)}
          before="Now"
          after="Published"
        />
      )}
    </article>
  )
}
