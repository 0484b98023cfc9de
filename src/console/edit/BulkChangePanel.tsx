import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useState } from "preact/hooks"
import { maxEdits } from "../../store/browse/StagedEdits.js"
import { alarm, announce } from "../components/Announcer.js"
import { Panel } from "../components/Panel.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { TextInput } from "../components/TextInput.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import * as Drafts from "../drafts/Drafts.js"
import type { DataSourceService } from "../source/DataSource.js"
import { applyChange, type BulkChange, fieldProblem, parseTypedValue } from "./BulkChange.js"
import { editSize, placeholderStamp } from "./ImportRows.js"
import { type FoundDocument, lookUp, reportingCreated } from "./lookup/LookUp.js"
import { LookUpCost } from "./lookup/LookUpCost.js"

/** Skipped documents that are named. */
const maxNamed = 5

const kinds = [
  ["Set", "Set a field"],
  ["Remove", "Remove a field"],
  ["Delete", "Delete the documents"]
] as const

const reasons = {
  much: "would exceed the size limit for one publish",
  full: "does not fit in the browser's storage",
  elsewhere: "was changed in another tab"
}

const bytesOf = (drafts: ReadonlyArray<Drafts.DraftContent>): number =>
  drafts.reduce((sum, draft) => sum + editSize(Drafts.toStagedEdit({ stamp: placeholderStamp, ...draft })), 0)

/** The draft of a changed document; a text if the document cannot be changed; undefined if nothing changes. */
const draftAfter = (
  change: BulkChange,
  of: {
    readonly collection: string
    readonly id: string
    readonly base: Drafts.Draft["base"]
    readonly draft: Drafts.Draft | undefined
    readonly unreadable: boolean
  }
): Drafts.DraftContent | string | undefined => {
  const { collection, draft, id, unreadable } = of
  const base = draft === undefined ? of.base : draft.base
  const before = draft === undefined ? base?.text : draft.text
  if (unreadable) return "has a draft that cannot be read"
  if (before === undefined) return "no longer exists"
  if (before === null) return change._tag === "Delete" ? undefined : "is marked for deletion"
  if (change._tag === "Delete" && base === null) return "is not published yet: discard its draft instead"
  const after = applyChange(before, change)
  if (Either.isLeft(after)) return after.left
  const text = after.right
  if (text === before) return undefined
  const replaced = text === null && draft !== undefined ? before : undefined
  return { collection, id, base, text, replaced }
}

/** Changes several documents in the same way. Each becomes a draft. */
export const BulkChangePanel = (props: {
  readonly source: DataSourceService
  readonly drafts: string
  readonly collection: string
  readonly ids: ReadonlyArray<string>
  /** The columns of the table, suggested as fields. */
  readonly fields: ReadonlyArray<string>
  /** `skipped`: the rows that became no draft, as a sentence. */
  readonly onReview: (left: string | undefined) => void
  readonly onClose: () => void
}) => {
  const { collection, drafts, ids, source } = props
  const [kind, setKind] = useState<BulkChange["_tag"]>("Set")
  const [field, setField] = useState("")
  const [typed, setTyped] = useState("")
  const [done, setDone] = useState(0)
  const [left, setLeft] = useState<string | undefined>(undefined)
  const beginning = useEffectRunner()
  const value = parseTypedValue(typed)
  const wrongField = kind === "Delete" || field === "" ? undefined : fieldProblem(field)
  const others = Drafts.list(drafts).filter(
    (draft) => draft.collection !== collection || !ids.includes(draft.id)
  ).length
  const problem =
    ids.length + others > maxEdits
      ? `${plural(ids.length, "document")} and ${plural(others, "other draft")} exceed the limit of ${maxEdits} per publish.`
      : (wrongField ?? (kind === "Set" && typed !== "" ? value.problem : undefined))
  const isReady =
    problem === undefined &&
    ids.length > 0 &&
    (kind === "Delete" || (field !== "" && (kind === "Remove" || typed !== "")))

  const begin = () => {
    const change: BulkChange =
      kind === "Delete"
        ? { _tag: "Delete" }
        : kind === "Remove"
          ? { _tag: "Remove", field }
          : { _tag: "Set", field, raw: value.raw }
    setDone(0)
    const out: Array<string> = []
    const made = { changed: 0, unchanged: 0 }
    const apply = ({ base, id }: FoundDocument, room: number): number => {
      // A draft may have changed while the documents were read.
      const draft = Drafts.read(drafts, { collection, id })
      const seen = Drafts.stampOf(drafts, { collection, id })
      const unreadable = draft === undefined && seen !== undefined
      const next = draftAfter(change, { collection, id, base, draft, unreadable })
      if (next === undefined) {
        made.unchanged++
        return room
      }
      if (typeof next === "string") {
        out.push(`${id} ${next}`)
        return room
      }
      const size = bytesOf([next]) - (draft === undefined ? 0 : bytesOf([draft]))
      const saved = size > room ? "much" : Drafts.save(drafts, next, seen)
      if (typeof saved === "object") {
        made.changed++
        return room - size
      }
      out.push(`${id} ${reasons[saved]}`)
      return room
    }
    const changing = Effect.flatMap(source.edits, ({ maxBytes }) => {
      const applyAll = (found: ReadonlyArray<FoundDocument>) => {
        // Another tab may have saved drafts while the documents were read.
        let room = maxBytes - bytesOf(Drafts.list(drafts))
        for (const one of found) room = apply(one, room)
        setDone((count) => count + found.length)
      }
      const [unread, drafted] = Array.partitionMap(ids, (id) => {
        const draft = Drafts.read(drafts, { collection, id })
        return draft === undefined ? Either.left(id) : Either.right({ id, base: draft.base })
      })
      applyAll(drafted)
      return lookUp(source, collection, unread, applyAll)
    })
    beginning.run(changing.pipe(reportingCreated(() => made.changed, setLeft)), {
      success: () => {
        const told =
          out.length === 0
            ? undefined
            : `${plural(out.length, "document")} skipped: ${out.slice(0, maxNamed).join("; ")}${out.length > maxNamed ? "; and more" : ""}.`
        setLeft(told)
        if (told !== undefined) alarm(told)
        else
          announce(
            `${plural(made.changed, "draft")} created${made.unchanged === 0 ? "" : `, ${made.unchanged} unchanged`}.`
          )
        if (made.changed > 0) props.onReview(told)
      }
    })
  }

  return (
    <Panel
      label={`Change ${plural(ids.length, "document")}`}
      collection={collection}
      title={`Change ${plural(ids.length, "document")}`}
      closes="change"
      onClose={props.onClose}
    >
      <form
        class="panel-body"
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady && !beginning.running) begin()
        }}
      >
        {ids.length === 0 ? <p>No rows are selected. Select rows in the table first.</p> : null}
        <fieldset class="choices">
          <legend>Action</legend>
          {kinds.map(([one, words]) => (
            <label key={one} class="inline-check">
              <input type="radio" name="bulk" checked={kind === one} onChange={() => setKind(one)} />
              {words}
            </label>
          ))}
        </fieldset>
        {kind === "Delete" ? null : (
          <label class="field">
            <span>Field</span>
            <input
              value={field}
              list="bulk-fields"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setField(event.currentTarget.value)}
            />
            <datalist id="bulk-fields">
              {props.fields
                .filter((name) => fieldProblem(name) === undefined)
                .map((name) => (
                  <option key={name} value={name} />
                ))}
            </datalist>
          </label>
        )}
        {kind !== "Set" ? null : (
          <div class="field">
            <label for="bulk-typed">Value</label>
            <TextInput
              id="bulk-typed"
              value={typed}
              autocomplete="off"
              spellcheck={false}
              aria-describedby="bulk-value"
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        <p class="help" id="bulk-value">
          {kind === "Set" && typed !== "" ? (
            <>
              New value: <code>{value.raw}</code>.{" "}
            </>
          ) : null}
          {kind === "Set" ? "Valid JSON is used as JSON, anything else as text. " : null}
          Each document becomes a draft. Nothing is saved to the repository until you publish.
        </p>
        {problem === undefined && left === undefined ? null : (
          <p class="wrong" role="alert">
            {problem ?? left}
          </p>
        )}
        {beginning.problem === undefined ? null : <ProblemCard problem={beginning.problem} />}
        {beginning.running ? (
          <progress max={ids.length} value={done} aria-label="Documents looked up" />
        ) : (
          <LookUpCost source={source} documents={ids.length} />
        )}
        <div class="actions end">
          <RunButton kind="primary" type="submit" running={beginning.running} disabled={!isReady}>
            {`Create ${plural(ids.length, "draft")}`}
          </RunButton>
        </div>
      </form>
    </Panel>
  )
}
