import * as Effect from "effect/Effect"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { ConfirmDialog } from "../../components/ConfirmDialog.js"
import { plural } from "../../components/Plural.js"
import { useNavigationGuard } from "../../navigation/NavigationGuard.js"
import { fieldId } from "./Field.js"
import { focusField } from "./FieldFocus.js"
import { FieldView } from "./FieldView.js"
import type { FormModel } from "./FormModel.js"
import { FormProblems } from "./FormProblems.js"
import type { Path } from "./JsonNodes.js"
import { type PendingInput, pendingAfterEdit } from "./PendingInput.js"
import { applyTextChange, type FormEdit, type TextChange, textChangeOf } from "./TextEdits.js"
import "./form.css"

/** A form over the JSON text of a document. Every edit is a change of the text, so undo and redo work for both. */
export const Form = (props: {
  readonly label: string
  readonly text: string
  readonly model: FormModel
  /** How the fields were inferred, if the collection has no schema. */
  readonly note: string | undefined
  /** The text with all changes, which `text` has after the next render. */
  readonly latestText: () => string
  readonly onChange: (change: TextChange, isTyped: boolean) => void
  /** Set by the form: drops input that is not in the document, and returns whether there was any. */
  readonly dropPending: { current: () => boolean }
  readonly onUndo: () => void
  readonly onRedo: () => void
  readonly onDone: () => void
  readonly onJson: (at: number | undefined) => void
}) => {
  const { model, text } = props
  const [pending, showPending] = useState<PendingInput>(new Map())
  const [leaving, setLeaving] = useState<{ readonly proceed: () => void } | undefined>(undefined)
  // A ref, because several fields may change before the next render.
  const typed = useRef(pending)
  const setPending = (next: PendingInput) => {
    typed.current = next
    showPending(next)
  }
  const drop = () => {
    if (typed.current.size === 0) return false
    setPending(new Map())
    return true
  }
  /** The text that the paths of the pending input are of. */
  const pendingText = useRef(text)
  useLayoutEffect(() => {
    // Undo, a discard or another tab changed the text, and may have moved the items of lists.
    if (text !== pendingText.current) drop()
    pendingText.current = text
  }, [text])
  useLayoutEffect(() => {
    props.dropPending.current = drop
    return () => {
      props.dropPending.current = () => false
    }
  }, [])
  useNavigationGuard(
    { save: () => typed.current.size === 0, confirm: (proceed) => setLeaving({ proceed }) },
    "part"
  )
  const focus = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    if (focus.current === undefined) return
    focusField(focus.current)
    focus.current = undefined
  })
  const hands = {
    text,
    typedAt: (path: Path) => pending.get(JSON.stringify(path)),
    setTyped: (path: Path, given: string | undefined) => {
      const key = JSON.stringify(path)
      if (typed.current.get(key) === given) return
      const next = new Map(typed.current)
      if (given === undefined) next.delete(key)
      else next.set(key, given)
      setPending(next)
    },
    edit: (
      edit: FormEdit,
      { focus: next, isTyped = false }: { readonly focus?: string; readonly isTyped?: boolean } = {}
    ) => {
      const latest = props.latestText()
      const change = textChangeOf(latest, edit)
      if (change === undefined) return
      focus.current = next
      pendingText.current = applyTextChange(latest, change)
      if (typed.current.size > 0) setPending(pendingAfterEdit(typed.current, edit))
      props.onChange(change, isTyped)
    },
    onJson: props.onJson
  }
  return (
    <>
      {leaving === undefined ? null : (
        <ConfirmDialog
          title="Discard unsaved changes?"
          words={{ write: "Leave the form", writing: "Leaving…", cancel: "Stay" }}
          write={Effect.void}
          onClose={() => setLeaving(undefined)}
          onDone={() => {
            setLeaving(undefined)
            setPending(new Map())
            leaving.proceed()
          }}
        >
          <p>
            {plural(pending.size, "field")} without a valid number: the document does not have what you typed.
          </p>
        </ConfirmDialog>
      )}
      <form
        class="fields"
        aria-label={props.label}
        onSubmit={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if ((!event.ctrlKey && !event.metaKey) || event.altKey) return
          const key = event.key.toLowerCase()
          if (key === "enter") props.onDone()
          else if (key === "y" || (key === "z" && event.shiftKey)) props.onRedo()
          else if (key === "z") props.onUndo()
          else return
          event.preventDefault()
        }}
      >
        {props.note === undefined ? null : <p class="help">{props.note}</p>}
        <FormProblems fields={model.problems} onField={({ path }) => focusField(fieldId(path))} />
        {model.fields.map((field) => (
          <FieldView key={field.name} field={field} hands={hands} />
        ))}
      </form>
    </>
  )
}
