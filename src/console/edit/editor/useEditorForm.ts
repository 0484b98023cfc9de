import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import type { JsonObject } from "../../../domain/json/Json.js"
import { plural } from "../../components/Plural.js"
import type { Problem } from "../../components/Problem.js"
import { useEffectRunner } from "../../components/useEffectRunner.js"
import { guardViewChange } from "../../navigation/NavigationGuard.js"
import type { DataSourceService } from "../../source/DataSource.js"
import type { Field } from "../form/Field.js"
import { type FormModel, type FormSchema, formOf } from "../form/FormModel.js"
import { inferSchema } from "../form/SchemaInference.js"

export type EditorView = "form" | "json"

/** The storage key of the last selected view. */
const key = "chainstore.editor"

const remembered = (): EditorView | undefined => {
  try {
    const found = localStorage.getItem(key)
    return found === "form" || found === "json" ? found : undefined
  } catch {
    return undefined
  }
}

const remember = (view: EditorView): void => {
  try {
    localStorage.setItem(key, view)
  } catch {
    // Without storage the choice is not kept.
  }
}

const noFields: ReadonlyArray<Field> = []

/** Milliseconds that an editor waits for the schema before it shows the JSON view. */
const schemaTimeout = 1000

export interface FormState {
  /** Undefined until the schema is loaded. */
  readonly view: EditorView | undefined
  /** Changes the view. Without `isForNow`, the browser remembers it. */
  readonly choose: (view: EditorView, isForNow?: boolean) => void
  /** The form, or why there is none as a sentence. */
  readonly model: Either.Either<FormModel, string>
  /** The fields that do not fit the stored schema. */
  readonly problems: ReadonlyArray<Field>
  /** How the fields were inferred, if the collection has no schema. */
  readonly note: string | undefined
}

/** The form of a document's text, from the stored schema or inferred from other documents. */
export const useEditorForm = (
  source: DataSourceService,
  editor: { readonly collection: string; readonly documents: ReadonlyArray<JsonObject> },
  text: string
): FormState => {
  const { collection } = editor
  const [stored, setStored] = useState<JsonObject | null | undefined>(undefined)
  const [failure, setFailure] = useState<Problem | undefined>(undefined)
  const [chosen, setChosen] = useState(remembered)
  const [isLate, setLate] = useState(false)
  const task = useEffectRunner()
  // The first loaded documents are kept: later ones must not change the form while it is used.
  const seen = useRef(editor.documents)
  if (seen.current.length === 0) seen.current = editor.documents
  const documents = seen.current

  useEffect(() => {
    task.run(
      Effect.flatMap(source.edits, (edits) => edits.schema(collection)),
      {
        success: setStored,
        failure: (problem) => {
          setStored(null)
          setFailure(problem)
        }
      }
    )
    const timer = setTimeout(() => setLate(true), schemaTimeout)
    return () => clearTimeout(timer)
  }, [collection])

  const view =
    chosen ?? (stored === undefined ? (isLate ? "json" : undefined) : stored === null ? "json" : "form")
  const schema = useMemo(
    (): FormSchema =>
      stored == null
        ? { schema: inferSchema(documents), documents: documents.length }
        : { schema: stored, documents: undefined },
    [stored, documents]
  )
  const isStored = schema.documents === undefined
  const isUsed = view === "form" || isStored
  const model = useMemo(() => (isUsed ? formOf(text, schema) : Either.left("")), [isUsed, text, schema])
  const why = failure === undefined ? "" : `The schema of ${collection} cannot be used: ${failure.message} `
  return {
    view,
    choose: (next, isForNow = false) => {
      const change = () => {
        if (!isForNow) remember(next)
        setChosen(next)
      }
      if (next === "form") change()
      else guardViewChange(change)
    },
    model,
    problems: isStored && Either.isRight(model) ? model.right.problems : noFields,
    note:
      schema.documents === undefined
        ? undefined
        : documents.length === 0
          ? `${why}The collection has no schema. The form shows the fields of this document.`
          : `${why}The collection has no schema. The fields are inferred from ${plural(documents.length, "document")} of the table.`
  }
}
