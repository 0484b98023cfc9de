import * as Effect from "effect/Effect"
import { useEffect, useRef, useState } from "preact/hooks"
import type { EditableDocument } from "../../../store/browse/StagedEdits.js"
import { announce } from "../../components/Announcer.js"
import { useEffectRunner } from "../../components/useEffectRunner.js"
import type { DataSourceService } from "../../source/DataSource.js"
import { useAutosave } from "./useAutosave.js"
import { useDraft } from "./useDraft.js"

const emptyDocument = "{\n  \n}\n"

/** The text of one document, its stored version, and its draft. Every change is saved as a draft. */
export const useEditedDocument = (options: {
  readonly source: DataSourceService
  /** The prefix of the drafts' keys in the browser's storage. */
  readonly drafts: string
  readonly collection: string
  readonly id: string
  /** Shows a text that was not typed in the JSON editor. */
  readonly onText: (text: string) => void
}) => {
  const { collection, drafts, id, source } = options
  const documentKey = { collection, id }
  const reading = useEffectRunner()
  const autosave = useAutosave()
  /** Null if the document is not stored, undefined until that is known. */
  const [base, setBase] = useState<EditableDocument | null | undefined>(undefined)
  const [text, setText] = useState("")

  /** Replaces the text without saving it. */
  const show = (next: string) => {
    setText(next)
    options.onText(next)
    autosave.cancel()
  }

  const stored = Effect.flatMap(source.edits, (edits) => edits.document(collection, id))
  const showStored = (found: EditableDocument | null) => {
    setBase(found)
    show(found?.text ?? emptyDocument)
  }

  const draftState = useDraft(drafts, documentKey, {
    flush: autosave.flush,
    onOtherTab: (other) => {
      reading.reset()
      if (other === undefined) {
        // If the draft was published, the stored document has changed.
        show(base?.text ?? emptyDocument)
        reading.run(stored, {
          success: showStored,
          ...(base === undefined ? {} : { failure: () => undefined })
        })
        return
      }
      setBase(other.base)
      if (other.text !== null) show(other.text)
    }
  })
  const { draft } = draftState

  const load = () => {
    if (draft !== undefined) {
      setBase(draft.base)
      setText(draft.text ?? draft.replaced ?? draft.base?.text ?? emptyDocument)
      return
    }
    reading.run(stored, { success: showStored })
  }

  useEffect(() => {
    load()
    const onLeave = () => autosave.latestFlush.current()
    addEventListener("pagehide", onLeave)
    document.addEventListener("visibilitychange", onLeave)
    return () => {
      removeEventListener("pagehide", onLeave)
      document.removeEventListener("visibilitychange", onLeave)
      onLeave()
    }
  }, [collection, id])

  const save = (next: string) => {
    if (base === undefined) return
    if (next === base?.text) draftState.discard()
    // Decisions about conflicts were made for the text before: kept, they would replace what is typed now.
    else draftState.save({ ...documentKey, base, text: next })
  }
  const latestSave = useRef(save)
  latestSave.current = save

  return {
    base,
    text,
    draftState,
    flush: autosave.flush,
    reading,
    load,
    isDeleted: draft !== undefined && draft.text === null,
    isUnchanged: draft === undefined && text === (base?.text ?? emptyDocument),
    /** Takes a typed text, and saves it when typing pauses. */
    change: (next: string) => {
      setText(next)
      // A document that is still being read must not replace what is typed.
      if (base !== undefined) reading.reset()
      autosave.schedule(() => latestSave.current(next))
    },
    /** Marks the document for deletion. */
    markDeleted: () => {
      if (base === null || base === undefined) return
      autosave.flush()
      const replaced = text === base.text ? undefined : text
      if (draftState.save({ ...documentKey, base, text: null, replaced }))
        announce(`${id} will be deleted when you publish.`)
    },
    /** Takes back the deletion. */
    keepDocument: () => {
      save(text)
      announce(`${id} will not be deleted.`)
    },
    /** Deletes the draft and shows the stored text. Returns whether a document is left to show. */
    discard: (): boolean => {
      autosave.cancel()
      if (!draftState.discard()) {
        announce(`The draft of ${id} was changed in another tab and is kept.`)
        return true
      }
      announce(`Draft of ${id} discarded.`)
      if (base === null) return false
      show(base?.text ?? emptyDocument)
      return true
    }
  }
}

export type EditedDocument = ReturnType<typeof useEditedDocument>
