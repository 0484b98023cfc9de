import { useState } from "preact/hooks"
import type { Json } from "../../../domain/json/Json.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"
import { bothSides } from "../../../store/browse/BothSides.js"
import { printPath } from "../../../store/browse/Difference.js"
import type { EditConflict, EditSettlement } from "../../../store/browse/StagedEdits.js"
import { truncated } from "../../values/Cell.js"
import { DifferenceValue } from "../../values/DifferenceTable.js"

/** How a conflict is resolved: discard the draft, base it on the stored version, edit it, or take a side for each field. */
export type Decision =
  | { readonly _tag: "Theirs" }
  | { readonly _tag: "Mine" }
  | { readonly _tag: "Edit" }
  | {
      readonly _tag: "Settle"
      readonly settled: EditSettlement
      /** New values of the draft, for the fields of which both sides are taken. */
      readonly values: ReadonlyArray<{ readonly path: MergeConflict["path"]; readonly value: Json }>
    }

/** A field that both sides changed; an absent value is undefined. */
interface ConflictField {
  readonly path: MergeConflict["path"]
  readonly base?: Json | undefined
  readonly ours?: Json | undefined
  readonly theirs?: Json | undefined
}

/** Both values of a field, the stored one first. */
const bothOf = ({ ours, path, theirs }: ConflictField) => bothSides(path, theirs, ours)

type Side = (typeof sides)[number]

const sides = ["theirs", "mine", "both"] as const

const sideNames: Readonly<Record<Side, string>> = { theirs: "Theirs", mine: "Mine", both: "Both" }

const Value = ({ value }: { readonly value: Json | undefined }) =>
  value === undefined ? (
    <span class="nothing">nothing</span>
  ) : (
    <bdi>
      <DifferenceValue value={value} />
    </bdi>
  )

/** A conflict side by side: the base version, the stored version, and the draft. */
export const ConflictCard = (props: {
  readonly name: string
  readonly conflict: EditConflict
  readonly onDecide: (decision: Decision) => void
}) => {
  const { conflict, name, onDecide } = props
  const { base, fields, ours, theirs, version } = conflict
  const [taken, setTaken] = useState<ReadonlyMap<string, Side>>(new Map())
  const isWhole = fields.length === 0
  const rows: ReadonlyArray<ConflictField> = isWhole
    ? [{ path: [], base: base ?? undefined, theirs: theirs ?? undefined, ours: ours ?? undefined }]
    : fields
  const words =
    theirs === null
      ? "This document was deleted after you started editing."
      : ours === null
        ? "This document was changed after you marked it for deletion."
        : base === null
          ? "A document with this id was created in the meantime."
          : isWhole
            ? "This document was changed, and the version that you started from no longer exists."
            : "The same fields were changed after you started editing. All other changes are merged."
  /** A choice is valid only for the shown versions, so the key contains the version. */
  const keyOf = ({ path }: ConflictField) => JSON.stringify([version?.sha, path])
  const sideOf = (field: ConflictField): Side => taken.get(keyOf(field)) ?? "mine"
  const hasBoth = !isWhole && fields.some((field) => bothOf(field) !== undefined)
  const shown = hasBoth ? sides : sides.slice(0, 2)
  const settle = (against: string): Decision => ({
    _tag: "Settle",
    settled: {
      against,
      theirs: fields.flatMap((field) => (sideOf(field) === "theirs" ? [field.path] : []))
    },
    values: fields.flatMap((field) => {
      const value = sideOf(field) === "both" ? bothOf(field) : undefined
      return value === undefined ? [] : [{ path: field.path, value }]
    })
  })
  return (
    <div class="card conflict">
      <p>{words}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="diff-scroll" tabIndex={0} aria-label={`Conflict in ${name}`}>
        <table class="diff sides">
          <caption class="sr-only">Conflict in {name}</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Base</th>
              {shown.map((side) => (
                <th scope="col" key={side}>
                  {sideNames[side]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((field, at) => (
              <tr key={keyOf(field)}>
                <th scope="row">
                  <bdi>{isWhole ? "the document" : truncated(printPath(field.path))}</bdi>
                </th>
                <td data-side="Base">
                  <Value value={field.base} />
                </td>
                {shown.map((side) => {
                  const both = side === "both" ? bothOf(field) : undefined
                  if (side === "both" && both === undefined) return <td key={side} class="empty" />
                  const value = (
                    <Value value={side === "theirs" ? field.theirs : side === "mine" ? field.ours : both} />
                  )
                  return (
                    <td key={side} data-side={sideNames[side]}>
                      {isWhole ? (
                        value
                      ) : (
                        <label class="inline-check">
                          <input
                            type="radio"
                            name={`${name} ${at}`}
                            checked={sideOf(field) === side}
                            onChange={() => setTaken((before) => new Map(before).set(keyOf(field), side))}
                          />
                          {value}
                        </label>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="actions">
        {isWhole || version === null ? null : (
          <button type="button" class="button plain" onClick={() => onDecide(settle(version.sha))}>
            Apply selection
          </button>
        )}
        {isWhole ? (
          <button type="button" class="button plain" onClick={() => onDecide({ _tag: "Mine" })}>
            {ours === null ? "Delete anyway" : "Take mine"}
          </button>
        ) : null}
        <button type="button" class="button plain" onClick={() => onDecide({ _tag: "Theirs" })}>
          {theirs === null
            ? "Accept the deletion"
            : isWhole
              ? "Take theirs"
              : "Take theirs and discard the draft"}
        </button>
        {ours === null ? null : (
          <button type="button" class="button quiet" onClick={() => onDecide({ _tag: "Edit" })}>
            Edit
          </button>
        )}
      </div>
    </div>
  )
}
