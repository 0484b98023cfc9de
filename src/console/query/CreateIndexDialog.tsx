import * as Effect from "effect/Effect"
import { useState } from "preact/hooks"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { plural } from "../components/Plural.js"
import { Problem } from "../components/Problem.js"
import type { DataSourceService } from "../source/DataSource.js"
import { truncated } from "../values/Cell.js"

const refusal = {
  conflict: "Change the documents that have the same value, or create an index that allows it.",
  invalid: "Nothing was written."
}

/** A refusal of the index. Other problems are those of any request. */
const asRefusal = (problem: Problem): Problem => {
  const { kind, message } = problem
  return kind === "conflict" || kind === "invalid"
    ? new Problem({ kind, message, title: "The index was not created", next: refusal[kind] })
    : problem
}

/** Asks for the field of a new index, and creates it. */
export const CreateIndexDialog = (props: {
  readonly source: DataSourceService
  readonly collection: string
  /** The fields to choose from; at least one. */
  readonly fields: ReadonlyArray<string>
  /** The requests for all documents, if they are known. */
  readonly requests: number | undefined
  /** `unknown`: a creation was started and its result was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: () => void
}) => {
  const { collection, fields, requests, source } = props
  const [field, setField] = useState(fields[0] ?? "")
  const [unique, setUnique] = useState(false)
  const create: Effect.Effect<string | null, Problem> = Effect.flatMap(source.edits, (edits) =>
    Effect.mapError(edits.createIndex(collection, { field, unique }), asRefusal)
  )
  return (
    <ConfirmDialog
      title="Create an index"
      words={{ write: "Create", writing: "Creating…" }}
      write={create}
      onClose={props.onClose}
      onDone={(commit) => {
        announce(
          commit === null
            ? `${collection} already has an index on ${field}.`
            : `The index on ${field} is created in commit ${commit.slice(0, 7)}.`
        )
        props.onDone()
      }}
    >
      <label class="field">
        <span>Field</span>
        <select class="input" value={field} onChange={(event) => setField(event.currentTarget.value)}>
          {fields.map((path) => (
            <option key={path} value={path}>
              {truncated(path)}
            </option>
          ))}
        </select>
      </label>
      <label class="inline-check">
        <input
          type="checkbox"
          checked={unique}
          onChange={(event) => setUnique(event.currentTarget.checked)}
        />
        <span>No two documents may have the same value</span>
      </label>
      <p class="quiet-text">
        One commit adds the index to the settings of the repository. All documents of{" "}
        <bdi>{truncated(collection)}</bdi> are read once
        {requests === undefined ? "" : `, which takes up to ${plural(requests, "request")}`}. Later writes of
        the collection also update the index.
      </p>
    </ConfirmDialog>
  )
}
