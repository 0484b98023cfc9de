import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { counted } from "../../Announcer.js"
import type { FormModel } from "./Fields.js"
import { FieldView } from "./FieldView.js"
import { changeOf, type FormEdit, type TextChange } from "./TextEdits.js"
import "./form.css"

/** The fields of a document. All that is done here are changes of its text, which undo and redo know. */
export const Form = (props: {
  readonly label: string
  readonly text: string
  readonly model: FormModel
  /** What the fields are known from, if not from a schema. */
  readonly note: string | undefined
  readonly onChange: (change: TextChange, isTyped: boolean) => void
  readonly onUndo: () => void
  readonly onRedo: () => void
  readonly onDone: () => void
  readonly onJson: (at: number | undefined) => void
}) => {
  const { model, text } = props
  const [pending, setPending] = useState<ReadonlyMap<string, string>>(new Map())
  const focus = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    if (focus.current === undefined) return
    document.getElementById(focus.current)?.focus()
    focus.current = undefined
  })
  const hands = {
    text,
    pending,
    setPending: (id: string, typed: string | undefined) => {
      if (pending.get(id) === typed) return
      const next = new Map(pending)
      if (typed === undefined) next.delete(id)
      else next.set(id, typed)
      setPending(next)
    },
    edit: (
      edit: FormEdit,
      { focus: next, isTyped = false }: { readonly focus?: string; readonly isTyped?: boolean } = {}
    ) => {
      const change = changeOf(text, edit)
      if (change === undefined) return
      focus.current = next
      props.onChange(change, isTyped)
    },
    onJson: props.onJson
  }
  return (
    <form
      class="fields"
      aria-label={props.label}
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if ((!event.ctrlKey && !event.metaKey) || event.altKey) return
        const key = event.key.toLowerCase()
        if (key === "enter") props.onDone()
        else if (key === "z" || key === "y") {
          // What is typed and is no value goes first: the document does not know it.
          if (pending.size > 0) setPending(new Map())
          else if (key === "y" || event.shiftKey) props.onRedo()
          else props.onUndo()
        } else return
        event.preventDefault()
      }}
    >
      {props.note === undefined ? null : <p class="help">{props.note}</p>}
      {model.problems === 0 ? null : (
        <p class="wrong form-sum">
          {counted(model.problems, "field")} {model.problems === 1 ? "does" : "do"} not fit what is expected.
        </p>
      )}
      {model.fields.map((field) => (
        <FieldView key={field.name} field={field} hands={hands} />
      ))}
    </form>
  )
}
