import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { useEffect, useRef, useState } from "preact/hooks"
import { runSync } from "../../domain/concurrency/Steps.js"
import type { JsonObject } from "../../domain/json/Json.js"
import { repeatedKeySteps } from "../../domain/json/RepeatedKey.js"
import { readDocument } from "../../store/browse/EditText.js"
import type { EditableDocument } from "../../store/browse/StagedEdits.js"
import { announce } from "../components/Announcer.js"
import { ConfirmDialog } from "../components/ConfirmDialog.js"
import { Icon } from "../components/Icon.js"
import { Panel } from "../components/Panel.js"
import { ProblemCard } from "../components/ProblemCard.js"
import { RunButton } from "../components/RunButton.js"
import { useEffectRunner } from "../components/useEffectRunner.js"
import type { JsonEditor } from "../json/JsonEditor.js"
import { useNavigationGuard } from "../navigation/NavigationGuard.js"
import type { DataSourceService } from "../source/DataSource.js"
import { Form } from "./form/Form.js"
import { JsonField } from "./JsonField.js"
import { useDraft } from "./useDraft.js"
import { useEditorForm } from "./useEditorForm.js"

const empty = "{\n  \n}\n"

/** How long typing pauses before it is kept, and how long it goes on without that. */
const pause = 250
const longest = 1000

/** The line of a key that its object has already, in a text that is refused. */
const repeatedLine = (text: string): number | undefined => {
  try {
    return runSync(repeatedKeySteps(text))?.lines[1]
  } catch {
    // The text is not JSON.
    return undefined
  }
}

/** Where a line of a text begins. */
const lineStart = (text: string, line: number): number =>
  text
    .split("\n")
    .slice(0, line - 1)
    .reduce((sum, one) => sum + one.length + 1, 0)

/** Edits one document, in a form or as JSON. Every change is a draft in the browser's storage, without a save. */
export const EditPanel = (props: {
  readonly source: DataSourceService
  readonly drafts: string
  readonly collection: string
  readonly id: string
  /** Documents of the collection that were seen, for a form of a collection without a schema. */
  readonly documents: ReadonlyArray<JsonObject>
  readonly onDuplicate: (text: string) => void
  readonly onReview: () => void
  readonly onClose: () => void
}) => {
  const { collection, drafts, id, source } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const editor = useRef<JsonEditor | undefined>(undefined)
  const task = useEffectRunner()
  /** Null where there is no document yet; undefined until that is known. */
  const [base, setBase] = useState<EditableDocument | null | undefined>(undefined)
  const [text, setText] = useState("")
  const [isOpen, setOpen] = useState(false)
  /** Where the JSON editor goes once it is shown. */
  const goal = useRef<number | undefined>(undefined)
  const { choose, model, note, view } = useEditorForm(
    source,
    { collection, documents: props.documents },
    text
  )
  const [leaving, setLeaving] = useState<{ readonly proceed: () => void } | undefined>(undefined)
  const waiting = useRef<
    { readonly timer: number; readonly since: number; readonly act: () => void } | undefined
  >(undefined)

  /** Forgets what is being typed. */
  const drop = () => {
    const now = waiting.current
    waiting.current = undefined
    if (now !== undefined) clearTimeout(now.timer)
    return now
  }

  const flush = () => drop()?.act()

  /** Shows another text, which is nothing that was typed. */
  const show = (next: string) => {
    setText(next)
    if (editor.current !== undefined && editor.current.text() !== next) editor.current.setText(next)
    drop()
  }

  const reading = Effect.flatMap(source.edits, (edits) => edits.document(collection, id))
  const enter = (found: EditableDocument | null) => {
    setBase(found)
    show(found?.text ?? empty)
  }

  const documentKey = { collection, id }
  const state = useDraft(drafts, documentKey, {
    flush,
    onOtherTab: (other) => {
      task.reset()
      if (other === undefined) {
        // Where it was published, the document is another one now.
        show(base?.text ?? empty)
        task.run(reading, { success: enter, ...(base === undefined ? {} : { failure: () => undefined }) })
        return
      }
      setBase(other.base)
      if (other.text !== null) show(other.text)
    }
  })
  const { draft } = state

  const latestFlush = useRef(flush)
  latestFlush.current = flush

  useNavigationGuard({
    save: () => {
      flush()
      return state.saveAgain()
    },
    confirm: (proceed) => setLeaving({ proceed })
  })

  const begin = () => {
    if (draft !== undefined) {
      setBase(draft.base)
      setText(draft.text ?? draft.replaced ?? draft.base?.text ?? empty)
      return
    }
    task.run(reading, { success: enter })
  }

  useEffect(() => {
    begin()
    const leave = () => latestFlush.current()
    addEventListener("pagehide", leave)
    document.addEventListener("visibilitychange", leave)
    return () => {
      removeEventListener("pagehide", leave)
      document.removeEventListener("visibilitychange", leave)
      leave()
    }
  }, [collection, id])

  const keep = (next: string | null) => {
    if (base === undefined) return
    if (next !== null && next === base?.text) state.discard()
    else state.save({ ...documentKey, base, text: next, settled: draft?.settled })
  }
  const latestKeep = useRef(keep)
  latestKeep.current = keep

  const change = (next: string) => {
    setText(next)
    // A document that is being read again does not replace what is typed.
    if (base !== undefined) task.reset()
    const now = performance.now()
    const since = drop()?.since ?? now
    const timer = window.setTimeout(() => latestFlush.current(), Math.min(pause, since + longest - now))
    waiting.current = { timer, since, act: () => latestKeep.current(next) }
  }

  const isForm = view === "form" && Either.isRight(model)
  useEffect(() => {
    const at = goal.current
    goal.current = undefined
    if (at !== undefined && view === "json") editor.current?.goTo(at)
  }, [view])

  const isDeleted = draft !== undefined && draft.text === null
  const read = runSync(readDocument(text))
  const problem = Either.isLeft(read) ? read.left : undefined
  const line = problem === undefined ? undefined : (editor.current?.brokenLine() ?? repeatedLine(text))

  useEffect(() => {
    if (problem === undefined || base === undefined) return
    const timer = setTimeout(() => announce(`The text ${problem}.`), 1500)
    return () => clearTimeout(timer)
  }, [problem])

  const discard = () => {
    drop()
    heading.current?.focus()
    if (!state.discard()) return announce(`The draft of ${id} was changed in another tab and is kept.`)
    announce(`Draft of ${id} discarded.`)
    if (base === null) props.onClose()
    else show(base?.text ?? empty)
  }

  const restore = () => {
    keep(text)
    announce(`${id} will not be deleted.`)
    heading.current?.focus()
  }

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
            state.abandon()
            leaving.proceed()
          }}
        >
          <p>This draft could not be saved in the browser.</p>
        </ConfirmDialog>
      )}
      <div class="panel-body editing">
        <div class="json-tools" role="toolbar" aria-label="Editing">
          {(["form", "json"] as const).map((one) => (
            <button
              key={one}
              type="button"
              class="tab small"
              aria-pressed={view === one}
              disabled={isDeleted}
              onClick={() => choose(one)}
            >
              {one === "form" ? "Form" : "JSON"}
            </button>
          ))}
          <button
            type="button"
            class="button small quiet icon-only"
            aria-label="Undo"
            title="Undo (Ctrl+Z)"
            disabled={isDeleted}
            onClick={() => editor.current?.undo()}
          >
            <Icon name="undo" />
          </button>
          <button
            type="button"
            class="button small quiet icon-only"
            aria-label="Redo"
            title="Redo (Ctrl+Shift+Z)"
            disabled={isDeleted}
            onClick={() => editor.current?.redo()}
          >
            <Icon name="redo" />
          </button>
          <div class="together">
            <button
              type="button"
              class="button small quiet"
              disabled={problem !== undefined || base === undefined}
              onClick={() => props.onDuplicate(text)}
            >
              <Icon name="copy" />
              Duplicate
            </button>
            {base === null || base === undefined || isDeleted ? null : (
              <button
                type="button"
                class="button small quiet"
                onClick={() => {
                  flush()
                  if (
                    state.save({
                      ...documentKey,
                      base,
                      text: null,
                      replaced: text === base.text ? undefined : text
                    })
                  ) {
                    announce(`${id} will be deleted when you publish.`)
                  }
                  heading.current?.focus()
                }}
              >
                <Icon name="close" />
                Delete
              </button>
            )}
            {draft === undefined && !state.isUnsaved ? null : (
              <button type="button" class="button small quiet" onClick={isDeleted ? restore : discard}>
                {isDeleted ? "Keep the document" : "Discard the draft"}
              </button>
            )}
          </div>
        </div>
        {state.isUnsaved && state.conflict === undefined ? (
          <p class="banner">
            The browser's storage is full, so this draft is not saved. Publish or discard other drafts.
            <button type="button" class="button small quiet" onClick={state.saveAgain}>
              Save now
            </button>
          </p>
        ) : null}
        {state.conflict === undefined ? null : (
          <p class="banner">
            {state.conflict}
            <button type="button" class="button small quiet" onClick={state.overwrite}>
              Keep this version
            </button>
          </p>
        )}
        {task.problem === undefined ? null : (
          <ProblemCard problem={task.problem}>
            <RunButton running={task.running} onClick={begin}>
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
          task.problem === undefined ? (
            <div class="skeleton-lines" aria-hidden="true">
              <span />
              <span />
              <span />
            </div>
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
                onChange={(next, isTyped) => editor.current?.change(next, isTyped)}
                onUndo={() => editor.current?.undo()}
                onRedo={() => editor.current?.redo()}
                onDone={props.onReview}
                onJson={(at) => {
                  goal.current = at ?? 0
                  choose("json", true)
                }}
              />
            ) : view === undefined || isForm ? (
              <div class="skeleton-lines" aria-hidden="true">
                <span />
                <span />
                <span />
              </div>
            ) : null}
            <JsonField
              label={`JSON of ${collection}/${id}`}
              text={text}
              editor={editor}
              hidden={view === undefined || isForm}
              onOpen={() => setOpen(true)}
              onChange={change}
              onDone={props.onReview}
            />
          </>
        )}
        <div class="json-place">
          <p class={problem === undefined || isDeleted ? "json-path" : "json-path wrong"}>
            {isDeleted || base === undefined
              ? null
              : problem !== undefined
                ? `${line === undefined ? "The text" : `Line ${line}: the text`} ${problem}`
                : state.isUnsaved
                  ? "Not saved"
                  : draft === undefined && text === (base?.text ?? empty)
                    ? "No changes"
                    : `${base === null ? "New" : "Changed"}, ${draft?.text === text ? "saved as a draft" : "not saved yet"}`}
          </p>
          <div class="together">
            {line === undefined || isDeleted ? null : (
              <button
                type="button"
                class="button small quiet"
                onClick={() => {
                  goal.current = undefined
                  if (!isForm) return editor.current?.goToLine(line)
                  goal.current = lineStart(text, line)
                  choose("json", true)
                }}
              >
                Go to line {line}
              </button>
            )}
            <button
              type="button"
              class="button primary"
              disabled={draft === undefined && text === (base?.text ?? empty)}
              onClick={props.onReview}
            >
              Review and publish
            </button>
          </div>
        </div>
      </div>
    </Panel>
  )
}
