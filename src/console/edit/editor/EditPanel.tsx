import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useEffect, useRef, useState } from "preact/hooks"
import { runSync } from "../../../domain/concurrency/Steps.js"
import type { JsonObject } from "../../../domain/json/Json.js"
import { repeatedKeySteps } from "../../../domain/json/RepeatedKey.js"
import { readDocument } from "../../../store/browse/EditText.js"
import { announce } from "../../components/Announcer.js"
import { ConfirmDialog } from "../../components/ConfirmDialog.js"
import { SkeletonLines } from "../../components/LoadingState.js"
import { Panel } from "../../components/Panel.js"
import { ProblemCard } from "../../components/ProblemCard.js"
import { RunButton } from "../../components/RunButton.js"
import type { JsonEditor } from "../../json/JsonEditor.js"
import { useNavigationGuard } from "../../navigation/NavigationGuard.js"
import type { DataSourceService } from "../../source/DataSource.js"
import { Form } from "../form/Form.js"
import { FormProblems, problemCount } from "../form/FormProblems.js"
import { EditorStatus } from "./EditorStatus.js"
import { EditorToolbar } from "./EditorToolbar.js"
import { JsonField } from "./JsonField.js"
import { useEditedDocument } from "./useEditedDocument.js"
import { useEditorForm } from "./useEditorForm.js"

/** The line of the first repeated key of an object. */
const repeatedLine = (text: string): number | undefined => {
  try {
    return runSync(repeatedKeySteps(text))?.lines[1]
  } catch {
    // The text is not JSON.
    return undefined
  }
}

/** The position at which a line begins. */
const lineStart = (text: string, line: number): number =>
  text
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, one) => sum + one.length + 1, 0)

/** Edits one document, in a form or as JSON. Every change is saved as a draft in the browser's storage. */
export const EditPanel = (props: {
  readonly source: DataSourceService
  /** The prefix of the drafts' keys in the browser's storage. */
  readonly drafts: string
  readonly collection: string
  readonly id: string
  /** Documents of the collection, from which a form is inferred if the collection has no schema. */
  readonly documents: ReadonlyArray<JsonObject>
  readonly onDuplicate: (text: string) => void
  readonly onReview: () => void
  readonly onClose: () => void
}) => {
  const { collection, documents, drafts, id, source } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const editor = useRef<JsonEditor | undefined>(undefined)
  const dropPending = useRef(() => false)
  const [isOpen, setOpen] = useState(false)
  /** The position that the JSON editor moves to once it is shown. */
  const targetPosition = useRef<number | undefined>(undefined)
  const [leaving, setLeaving] = useState<{ readonly proceed: () => void } | undefined>(undefined)
  const edited = useEditedDocument({
    source,
    drafts,
    collection,
    id,
    onText: (text) => {
      if (editor.current !== undefined && editor.current.text() !== text) editor.current.setText(text)
    }
  })
  const { base, draftState, isDeleted, reading, text } = edited
  const { choose, model, note, problems, view } = useEditorForm(source, { collection, documents }, text)

  useNavigationGuard({
    save: () => {
      edited.flush()
      return draftState.saveAgain()
    },
    confirm: (proceed) => setLeaving({ proceed })
  })

  useEffect(() => {
    const position = targetPosition.current
    targetPosition.current = undefined
    if (position !== undefined && view === "json") editor.current?.goTo(position)
  }, [view])

  const read = runSync(readDocument(text))
  const problem = Either.isLeft(read) ? read.left : undefined
  const line = problem === undefined ? undefined : (editor.current?.brokenLine() ?? repeatedLine(text))

  /** What is wrong with the text, as a sentence. */
  const objection =
    problem !== undefined
      ? `The text ${problem}.`
      : view === "json" && problems.length > 0
        ? problemCount(problems.length)
        : undefined
  useEffect(() => {
    if (objection === undefined || base === undefined) return
    const timer = setTimeout(() => announce(objection), 1500)
    return () => clearTimeout(timer)
  }, [objection])

  const showInJson = (position: number) => {
    targetPosition.current = position
    choose("json", true)
  }
  const isForm = view === "form" && Either.isRight(model)
  // The form's pending input is not in the document, so undo drops it first.
  const undo = () => dropPending.current() || editor.current?.undo()
  const redo = () => dropPending.current() || editor.current?.redo()
  // The pressed button is removed, so the heading gets the focus.
  const focusHeading = () => heading.current?.focus()

  return (
    <Panel
      label={`Edit ${collection}/${id}`}
      collection={collection}
      title={id}
      closes="editor"
      heading={heading}
      onClose={props.onClose}
    >
      {leaving === undefined ? null : (
        <ConfirmDialog
          title="Discard unsaved changes?"
          words={{ write: "Leave the editor", writing: "Leaving…", cancel: "Stay" }}
          write={Effect.void}
          onClose={() => setLeaving(undefined)}
          onDone={() => {
            setLeaving(undefined)
            draftState.abandon()
            leaving.proceed()
          }}
        >
          <p>This draft could not be saved in the browser.</p>
        </ConfirmDialog>
      )}
      <div class="panel-body editing">
        <EditorToolbar
          edited={edited}
          view={view}
          isValid={problem === undefined}
          onView={choose}
          onUndo={undo}
          onRedo={redo}
          onDuplicate={() => props.onDuplicate(text)}
          onDelete={() => {
            edited.markDeleted()
            focusHeading()
          }}
          onKeepDocument={() => {
            edited.keepDocument()
            focusHeading()
          }}
          onDiscard={() => {
            focusHeading()
            if (!edited.discard()) props.onClose()
          }}
        />
        {draftState.isUnsaved && draftState.conflict === undefined ? (
          <p class="banner">
            The browser's storage is full, so this draft is not saved. Publish or discard other drafts.
            <button type="button" class="button small quiet" onClick={draftState.saveAgain}>
              Save now
            </button>
          </p>
        ) : null}
        {draftState.conflict === undefined ? null : (
          <p class="banner">
            {draftState.conflict}
            <button type="button" class="button small quiet" onClick={draftState.overwrite}>
              Keep this version
            </button>
          </p>
        )}
        {reading.problem === undefined ? null : (
          <ProblemCard problem={reading.problem}>
            <RunButton running={reading.running} onClick={edited.load}>
              Try again
            </RunButton>
          </ProblemCard>
        )}
        {isDeleted ? (
          <div class="empty">
            <h3>Marked for deletion</h3>
            <p>The document is deleted when you publish. You can restore it from its history.</p>
          </div>
        ) : base === undefined ? (
          reading.problem === undefined ? (
            <SkeletonLines />
          ) : null
        ) : (
          <>
            {view === "form" && Either.isLeft(model) ? (
              <p class="banner">{`${model.left} It is shown as JSON.`}</p>
            ) : null}
            {isForm && isOpen ? (
              <Form
                label={`Fields of ${collection}/${id}`}
                text={text}
                model={model.right}
                note={note}
                latestText={() => editor.current?.text() ?? text}
                dropPending={dropPending}
                onChange={(next, isTyped) => editor.current?.change(next, isTyped)}
                onUndo={undo}
                onRedo={redo}
                onDone={props.onReview}
                onJson={(position) => showInJson(position ?? 0)}
              />
            ) : view === undefined || isForm ? (
              <SkeletonLines />
            ) : null}
            <JsonField
              label={`JSON of ${collection}/${id}`}
              text={text}
              editor={editor}
              hidden={view === undefined || isForm}
              onOpen={() => setOpen(true)}
              onChange={(next) => {
                // A form that appeared at the first valid text would take the focus from the typing.
                if (view === "form" && !isForm) choose("json", true)
                edited.change(next)
              }}
              onDone={props.onReview}
            />
          </>
        )}
        {isForm || isDeleted || base === undefined ? null : (
          <FormProblems fields={problems} onField={({ node }) => editor.current?.goTo(node?.from ?? 0)} />
        )}
        <EditorStatus
          edited={edited}
          problem={problem}
          line={line}
          onLine={(target) => {
            targetPosition.current = undefined
            if (isForm) showInJson(lineStart(text, target))
            else editor.current?.goToLine(target)
          }}
          onReview={props.onReview}
        />
      </div>
    </Panel>
  )
}
