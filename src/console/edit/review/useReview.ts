import * as Effect from "effect/Effect"
import type { RefObject } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import type { Json, JsonObject } from "../../../domain/json/Json.js"
import type { MergeConflict } from "../../../domain/merge/MergeRules.js"
import type { EditReview, ReviewedEdit } from "../../../store/browse/StagedEdits.js"
import { alarm, announce } from "../../components/Announcer.js"
import { plural } from "../../components/Plural.js"
import { useEffectRunner } from "../../components/useEffectRunner.js"
import * as Drafts from "../../drafts/Drafts.js"
import type { DataSourceService } from "../../source/DataSource.js"
import type { EditSource } from "../../source/EditSource.js"
import { reserveRate } from "../../source/LongRead.js"
import { schemaProblems } from "../form/FormModel.js"
import { applyTextChange, textChangeOf } from "../form/TextEdits.js"
import { requestsFor } from "../lookup/LookUp.js"
import type { Decision } from "./ConflictCard.js"
import { withNumberSpelling } from "./NumberSpelling.js"

/** Whether an edit prevents publishing until it is resolved. */
export const isBlocking = ({ state }: ReviewedEdit): boolean => state === "conflict" || state === "invalid"

export const nameOf = ({ collection, id }: { readonly collection: string; readonly id: string }): string =>
  `${collection}/${id}`

/** A text with another value of a field. */
const withField = (text: string | null, path: MergeConflict["path"], value: Json): string | null => {
  const change =
    text === null ? undefined : textChangeOf(text, { _tag: "Set", path, raw: JSON.stringify(value) })
  return text === null || change === undefined ? text : applyTextChange(text, change)
}

/** The stored schemas of the drafts' collections. A schema that cannot be read is left out. */
const schemasOf = (
  edits: EditSource,
  drafts: ReadonlyArray<Drafts.Draft>
): Effect.Effect<ReadonlyMap<string, JsonObject>> =>
  Effect.map(
    Effect.forEach(new Set(drafts.map(({ collection }) => collection)), (collection) =>
      edits.schema(collection).pipe(
        Effect.orElseSucceed(() => null),
        Effect.map((schema) => [collection, schema] as const)
      )
    ),
    (found) => new Map(found.flatMap(([name, schema]) => (schema === null ? [] : [[name, schema] as const])))
  )

/** The drafts of a repository, compared with what is stored now. Reviews again when another tab changes a draft. */
export const useReview = (
  source: DataSourceService,
  prefix: string,
  heading: RefObject<HTMLHeadingElement | null>,
  onEdit: (collection: string, id: string) => void
) => {
  const [drafts, setDrafts] = useState(() => Drafts.list(prefix))
  const [unreadable, setUnreadable] = useState(() => Drafts.listUnreadable(prefix))
  const [review, setReview] = useState<EditReview | undefined>(undefined)
  /** The drafts that `review` is about. Only these are published. */
  const [reviewed, setReviewed] = useState<ReadonlyArray<Drafts.Draft> | undefined>(undefined)
  /** The stored schemas of the reviewed collections. */
  const [schemas, setSchemas] = useState<ReadonlyMap<string, JsonObject>>(new Map())
  const [isStopped, setStopped] = useState(false)
  const reading = useEffectRunner()
  const resolving = useEffectRunner()

  /** Reads the stored versions again. `reserve`: whether a large review stops when a tenth of the rate limit is left. */
  const read = (reserve: boolean) => {
    setStopped(false)
    const found = Drafts.list(prefix)
    setDrafts(found)
    setUnreadable(Drafts.listUnreadable(prefix))
    if (found.length === 0) {
      reading.reset()
      setReview({ edits: [], files: [] })
      return
    }
    reading.run(
      Effect.flatMap(source.edits, (edits) =>
        Effect.zipRight(
          reserve
            ? Effect.tapError(reserveRate(source.rate, requestsFor(found.length)), () =>
                Effect.sync(() => setStopped(true))
              )
            : Effect.void,
          Effect.all({
            result: edits.review(found.map(Drafts.toStagedEdit)),
            schemas: schemasOf(edits, found)
          })
        )
      ),
      {
        success: ({ result, schemas }) => {
          setReview(result)
          setSchemas(schemas)
          setReviewed(found)
          const blocking = result.edits.filter(isBlocking).length
          announce(
            `${plural(result.edits.length, "draft")} to review${blocking === 0 ? "" : `, ${blocking} to resolve`}.`
          )
        }
      }
    )
  }
  const refresh = () => read(true)

  useEffect(() => {
    refresh()
    const onStorage = ({ key }: Partial<StorageEvent>) => {
      if ((key ?? prefix).startsWith(prefix)) refresh()
    }
    addEventListener("storage", onStorage)
    return () => removeEventListener("storage", onStorage)
  }, [prefix])

  /** The reviewed version of an edit's draft. */
  const draftOf = (edit: ReviewedEdit) => reviewed?.find((draft) => nameOf(draft) === nameOf(edit))

  /** The fields of an edit that do not fit the stored schema of its collection, by the name of the edit. */
  const objections = useMemo(
    () =>
      new Map(
        (review?.edits ?? []).flatMap((edit) => {
          const schema = schemas.get(edit.collection)
          if (schema === undefined || edit.after === null || isBlocking(edit)) return []
          const fields = schemaProblems(JSON.stringify(edit.after), schema)
          return fields.length === 0 ? [] : [[nameOf(edit), fields] as const]
        })
      ),
    [review, schemas]
  )

  const onChangedElsewhere = () => {
    alarm("This draft was changed in another tab. Review it again.")
    refresh()
  }

  const discard = (draft: Drafts.Draft | undefined) => {
    heading.current?.focus()
    if (draft !== undefined && !Drafts.discard(prefix, draft)) onChangedElsewhere()
  }

  const discardUnreadable = (draft: Drafts.UnreadableDraft) => {
    heading.current?.focus()
    if (!Drafts.discardUnreadable(prefix, draft)) onChangedElsewhere()
  }

  const save = ({ stamp }: Drafts.Draft, next: Drafts.DraftContent): boolean => {
    const saved = Drafts.save(prefix, next, stamp)
    if (saved === "full")
      alarm("The browser's storage is full, so your decision is not saved. Discard other drafts.")
    else if (saved === "elsewhere") onChangedElsewhere()
    return typeof saved === "object"
  }

  const resolve = (edit: ReviewedEdit, decision: Decision) => {
    const draft = draftOf(edit)
    const conflict = edit.conflict
    if (draft === undefined || conflict === undefined) return
    if (decision._tag === "Theirs") return discard(draft)
    heading.current?.focus()
    const { stamp: _, ...rest } = draft
    if (decision._tag === "Settle") {
      const text = decision.values.reduce(
        (before, { path, value }) => withField(before, path, value),
        draft.text
      )
      return save(draft, { ...rest, text, settled: decision.settled })
    }
    const { collection, id, text } = draft
    // A review has the numbers as JavaScript reads them. The stored text has all their digits.
    const stored = Effect.flatMap(source.edits, (calls) => calls.document(collection, id))
    resolving.run(stored, {
      success: (base) => {
        if (base?.sha !== conflict.version?.sha) {
          alarm("The document was changed in the meantime. Review it again.")
          return refresh()
        }
        const { merged } = conflict
        const isEdited = decision._tag === "Edit"
        const next =
          isEdited && merged !== null && text !== null && base !== null
            ? withNumberSpelling(merged, [text, base.text])
            : text
        if (save(draft, { ...rest, base, settled: undefined, text: next }) && isEdited) onEdit(collection, id)
      }
    })
  }

  return {
    drafts,
    unreadable,
    review,
    objections,
    draftOf,
    reading,
    resolveProblem: resolving.problem,
    /** Whether the reviewed drafts are the current ones and nothing prevents publishing them. */
    isReady: reviewed === drafts && review?.edits.some(isBlocking) !== true && review?.problem === undefined,
    refresh,
    /** Reviews although the reserved tenth of the rate limit is used; undefined unless that stopped the review. */
    continueReview: isStopped ? () => read(false) : undefined,
    discard,
    discardUnreadable,
    resolve,
    /** Shows the conflicts that a publish found. */
    showConflicts: (edits: EditReview["edits"], of: ReadonlyArray<Drafts.Draft>) => {
      setReview({ edits, files: [] })
      setReviewed(of)
    }
  }
}

export type Review = ReturnType<typeof useReview>
