import { useState } from "preact/hooks"
import type { Json } from "../../../domain/json/Json.js"
import { printPath } from "../../../store/browse/Difference.js"
import type { EditConflict, EditSettlement } from "../../../store/browse/StagedEdits.js"
import { truncated } from "../../values/Cell.js"
import { DifferenceValue } from "../../values/DifferenceTable.js"

/** How a conflict is resolved: discard the draft, base it on the stored version, edit it, or take a side for each field. */
export type Decision =
  | { readonly _tag: "Theirs" }
  | { readonly _tag: "Mine" }
  | { readonly _tag: "Edit" }
  | { readonly _tag: "Settle"; readonly settled: EditSettlement }

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
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set())
  const isWhole = fields.length === 0
  const rows = isWhole
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
  const keyOf = (path: EditConflict["fields"][number]["path"]) => JSON.stringify([version?.sha, path])
  const choose = (key: string, isTheirs: boolean) =>
    setTaken((before) => new Set([...before].filter((one) => one !== key).concat(isTheirs ? [key] : [])))
  return (
    <div class="card conflict">
      <p>{words}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="diff-scroll" tabIndex={0} aria-label={`Conflict in ${name}`}>
        <table class="diff">
          <caption class="sr-only">Conflict in {name}</caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Base</th>
              <th scope="col">Theirs</th>
              <th scope="col">Mine</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((field, at) => (
              <tr key={keyOf(field.path)}>
                <th scope="row">
                  <bdi>{isWhole ? "the document" : truncated(printPath(field.path))}</bdi>
                </th>
                <td>
                  <Value value={field.base} />
                </td>
                {([true, false] as const).map((isTheirs) => {
                  const value = <Value value={isTheirs ? field.theirs : field.ours} />
                  return (
                    <td key={String(isTheirs)}>
                      {isWhole ? (
                        value
                      ) : (
                        <label class="inline-check">
                          <input
                            type="radio"
                            name={`${name} ${at}`}
                            checked={taken.has(keyOf(field.path)) === isTheirs}
                            onChange={() => choose(keyOf(field.path), isTheirs)}
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
          <button
            type="button"
            class="button plain"
            onClick={() =>
              onDecide({
                _tag: "Settle",
                settled: {
                  against: version.sha,
                  theirs: fields.flatMap(({ path }) => (taken.has(keyOf(path)) ? [path] : []))
                }
              })
            }
          >
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
