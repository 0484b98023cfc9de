import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useMemo, useRef, useState } from "preact/hooks"
import { collectionNameProblem } from "../../domain/identifiers/CollectionName.js"
import { type EditableDocument, maxEdits, type StagedEdit } from "../../store/browse/StagedEdits.js"
import { alarm, announce } from "../components/Announcer.js"
import { LoadingState } from "../components/LoadingState.js"
import { Panel } from "../components/Panel.js"
import { plural } from "../components/Plural.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import * as Drafts from "../drafts/Drafts.js"
import type { DataSourceService } from "../source/DataSource.js"
import { importedChange } from "./ImportChanges.js"
import { ImportPreview } from "./ImportPreview.js"
import {
  documentText,
  editSize,
  type ImportFile,
  importRows,
  placeholderStamp,
  readFile
} from "./ImportRows.js"
import { type FoundDocument, lookUp, reportingCreated } from "./lookup/LookUp.js"
import { LookUpCost } from "./lookup/LookUpCost.js"

/** Refused rows that are listed. */
const maxNamed = 20

const kibibytes = (bytes: number) => `${Math.ceil(bytes / 1024).toLocaleString("en")} KiB`

/** A base and a stamp of the final length, to compute the size. */
const unknown: Pick<StagedEdit, "base" | "stamp"> = {
  base: { sha: "0".repeat(40), commit: "0".repeat(40) },
  stamp: placeholderStamp
}

/** The documents of a collection as they were looked up for a file; null for those that do not exist. */
interface LookedUp {
  readonly collection: string
  readonly documents: ReadonlyMap<string, EditableDocument | null>
}

const noDocuments: LookedUp["documents"] = new Map()

/** Shows what the rows of a file would change, and creates a draft from each row that changes something. */
export const ImportPanel = (props: {
  readonly source: DataSourceService
  readonly drafts: string
  readonly collection: string
  /** `skipped`: the rows that became no draft, as a sentence. */
  readonly onReview: (left: string | undefined) => void
  readonly onClose: () => void
}) => {
  const { source } = props
  const [collection, setCollection] = useState(props.collection)
  const [file, setFile] = useState<ImportFile | undefined>(undefined)
  const [idField, setIdField] = useState("_id")
  const [done, setDone] = useState(0)
  const [lookedUp, setLookedUp] = useState<LookedUp>({ collection, documents: noDocuments })
  const [mostBytes, setMostBytes] = useState(Number.POSITIVE_INFINITY)
  const [left, setLeft] = useState<string | undefined>(undefined)
  const last = useRef<File | undefined>(undefined)
  const reading = useEffectRunner()
  const previewing = useEffectRunner()
  const beginning = useEffectRunner()
  const { refused, rows } = useMemo(() => {
    if (file === undefined) return { rows: [], refused: [] }
    const { refused, rows } = importRows(file, idField)
    const sized = rows.map((row) => {
      const text = documentText(row)
      return { ...row, text, size: editSize({ ...unknown, collection, id: row.id, text }) }
    })
    const [fitting, large] = Array.partition(sized, ({ size }) => size > mostBytes)
    return {
      rows: fitting,
      refused: [
        ...refused,
        ...large.map(({ row, size }) => ({
          row,
          reason: `${kibibytes(size)} exceed the limit of ${kibibytes(mostBytes)} per publish`
        }))
      ].sort((one, other) => one.row - other.row)
    }
  }, [file, idField, collection, mostBytes])
  const drafts = Drafts.list(props.drafts)
  const drafted = new Set(drafts.flatMap((draft) => (draft.collection === collection ? draft.id : [])))
  // The rows of documents that have drafts are skipped.
  const added = rows.filter(({ id }) => !drafted.has(id))
  const known = lookedUp.collection === collection ? lookedUp.documents : noDocuments
  const changes = useMemo(
    () =>
      rows.flatMap((row) => {
        const base = known.get(row.id)
        return base === undefined ? [] : [importedChange(row, base)]
      }),
    [rows, known]
  ).filter(({ id }) => !drafted.has(id))
  const unchanged = changes.filter(({ action }) => action === "unchanged").length
  const isRunning = previewing.running || beginning.running
  const others = drafts.length - (rows.length - added.length)
  const allBytes =
    added.reduce((sum, { size }) => sum + size, 0) +
    drafts.reduce((sum, draft) => sum + editSize(Drafts.toStagedEdit(draft)), 0)
  const problem =
    collectionNameProblem(collection) ??
    (file !== undefined && file.records.length > maxEdits
      ? `The file has more than ${maxEdits} records. Use \`chainstore import\` for larger files.`
      : others + rows.length > maxEdits
        ? `There are ${plural(others, "other draft")}, and at most ${maxEdits} drafts can be published together. Publish or discard some first.`
        : allBytes > mostBytes
          ? `The drafts have ${kibibytes(allBytes)}${drafts.length === 0 ? "" : " (with the other drafts)"}, and at most ${kibibytes(mostBytes)} can be published together. Import fewer rows, or use \`chainstore import\`.`
          : undefined)

  const open = (chosen: File | undefined) => {
    if (chosen === undefined) return
    last.current = chosen
    setFile(undefined)
    setLeft(undefined)
    setLookedUp({ collection, documents: noDocuments })
    reading.run(Effect.zip(readFile(chosen), source.edits), {
      success: ([found, { maxBytes }]) => {
        setFile(found)
        setMostBytes(maxBytes)
        setIdField(["_id", "id"].find((name) => found.fields.includes(name)) ?? "_id")
        announce(`${plural(found.records.length, "record")} read.`)
      }
    })
  }

  const remember = (found: ReadonlyArray<FoundDocument>) => {
    setLookedUp((before) => ({
      collection,
      documents: new Map([
        ...(before.collection === collection ? before.documents : []),
        ...found.map(({ base, id }) => [id, base] as const)
      ])
    }))
    setDone((count) => count + found.length)
  }

  const preview = () => {
    beginning.reset()
    setDone(changes.length)
    const missing = added.flatMap(({ id }) => (known.has(id) ? [] : id))
    previewing.run(lookUp(source, collection, missing, remember), {
      success: () => announce("The preview is complete.")
    })
  }

  const begin = () => {
    previewing.reset()
    const isDrafted = (id: string) => Drafts.stampOf(props.drafts, { collection, id }) !== undefined
    const fresh = new Map(rows.filter(({ id }) => !isDrafted(id)).map((row) => [row.id, row]))
    const made = { created: 0, drafted: rows.length - fresh.size, full: 0, unchanged: 0 }
    const save = ({ base, id }: FoundDocument) => {
      const row = fresh.get(id)!
      if (isDrafted(id)) made.drafted++
      else if (importedChange(row, base).action === "unchanged") made.unchanged++
      else if (
        typeof Drafts.save(props.drafts, { collection, id, base, text: row.text }, undefined) === "object"
      )
        made.created++
      else made.full++
    }
    const [missing, found] = Array.partitionMap([...fresh.keys()], (id) => {
      const base = known.get(id)
      return base === undefined ? Either.left(id) : Either.right({ id, base })
    })
    found.forEach(save)
    setDone(found.length)
    const looked = lookUp(source, collection, missing, (group) => {
      group.forEach(save)
      remember(group)
    })
    const skipped = () => {
      const words = [
        made.full === 0
          ? []
          : `The browser's storage is full: ${plural(made.full, "draft")} of ${rows.length} not created.`,
        made.drafted === 0
          ? []
          : `${plural(made.drafted, "row")} skipped: their documents already have drafts.`,
        made.unchanged === 0 ? [] : `${plural(made.unchanged, "row")} skipped: they change nothing.`
      ].flat()
      return words.length === 0 ? undefined : words.join(" ")
    }
    beginning.run(looked.pipe(reportingCreated(() => made.created, setLeft)), {
      success: () => {
        const told = skipped()
        setLeft(told)
        if (told === undefined) announce(`${plural(made.created, "draft")} created.`)
        else alarm(told)
        if (made.created > 0) props.onReview(told)
      }
    })
  }

  return (
    <Panel
      label="Import a file"
      collection={props.collection}
      title="Import"
      closes="import"
      onClose={props.onClose}
    >
      <div class="panel-body">
        <label class="field">
          <span>Collection</span>
          <input value={collection} required onInput={(event) => setCollection(event.currentTarget.value)} />
        </label>
        <label class="field">
          <span>File</span>
          <input
            type="file"
            accept=".csv,.tsv,.json,.ndjson,.jsonl"
            aria-describedby="import-help"
            onChange={(event) => open(event.currentTarget.files?.[0])}
          />
        </label>
        <p class="help" id="import-help">
          CSV with a header row, a JSON array of objects, or NDJSON. Each row becomes a draft that replaces
          the document with its id. Nothing is saved to the repository until you publish.
        </p>
        {file === undefined && !reading.running && reading.problem === undefined ? null : (
          <LoadingState
            loaded={file !== undefined}
            problem={reading.problem}
            running={reading.running}
            onRetry={() => open(last.current)}
          />
        )}
        {file === undefined ? null : (
          <>
            <label class="field">
              <span>Id field</span>
              <select
                class="input"
                value={idField}
                onChange={(event) => setIdField(event.currentTarget.value)}
              >
                {file.fields.includes("_id") ? null : <option value="_id">generated</option>}
                {file.fields.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
            <p>
              {plural(rows.length, "document")}
              {rows.length === added.length
                ? ""
                : `, ${rows.length - added.length} of which already have drafts and are skipped`}
              {refused.length === 0 ? "." : `. ${plural(refused.length, "row")} cannot be imported:`}
            </p>
            {refused.length === 0 ? null : (
              <ul class="changes">
                {refused.slice(0, maxNamed).map(({ reason, row }) => (
                  <li key={row}>
                    Row {row}: <bdi>{reason}</bdi>
                  </li>
                ))}
              </ul>
            )}
            {refused.length > maxNamed ? <p>…and {refused.length - maxNamed} more.</p> : null}
          </>
        )}
        {file === undefined || problem === undefined ? null : (
          <p class="wrong" role="alert">
            {problem}
          </p>
        )}
        {left === undefined ? null : <p class="wrong">{left}</p>}
        {changes.length === 0 ? null : <ImportPreview changes={changes} rows={added.length} />}
        {(previewing.problem ?? beginning.problem) === undefined ? null : (
          <ProblemCard problem={(previewing.problem ?? beginning.problem)!} />
        )}
        {isRunning ? (
          <progress max={added.length} value={done} aria-label="Documents looked up" />
        ) : (
          <LookUpCost source={source} documents={added.length - changes.length} />
        )}
        <div class="actions end">
          {changes.length === added.length ? null : (
            <RunButton
              kind="quiet"
              running={previewing.running}
              disabled={problem !== undefined || beginning.running}
              onClick={preview}
            >
              Preview changes
            </RunButton>
          )}
          <RunButton
            kind="primary"
            running={beginning.running}
            disabled={added.length === unchanged || problem !== undefined || previewing.running}
            onClick={begin}
          >
            {`Create ${plural(added.length - unchanged, "draft")}`}
          </RunButton>
        </div>
      </div>
    </Panel>
  )
}
