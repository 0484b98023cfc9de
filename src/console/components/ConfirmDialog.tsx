import type * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { focusedElement, useModal } from "./Focus.js"
import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"
import { RunButton } from "./RunButton.js"
import { useEffectRunner } from "./useEffectRunner.js"

/** Asks before something is done, and does it. */
export const ConfirmDialog = <A,>(props: {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
  /** The id of the element that gets the focus back. Default: what has it now. */
  readonly opener?: string
  /** The words of its buttons; the second is shown while it writes. */
  readonly words: { readonly write: string; readonly writing: string; readonly cancel?: string }
  /** Absent while there is nothing that could be written. */
  readonly write: Effect.Effect<A, Problem> | undefined
  /** After a failure: looks again at what would be written. */
  readonly onRetry?: () => void
  /** `unknown` when a write had begun whose end was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (written: A) => void
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const done = useRef(false)
  /** Said once for each time that it is shown: the close event comes late, and after the dialog is removed, too. */
  const left = useRef(false)
  useLayoutEffect(() => {
    left.current = false
  })
  const task = useEffectRunner()
  const { onRetry, opener, words, write } = props
  useModal(dialog, () => (opener === undefined ? focusedElement() : document.getElementById(opener)))

  const run = () => {
    if (write === undefined) return
    task.run(write, {
      success: (written) => {
        done.current = true
        props.onDone(written)
      }
    })
  }

  const leave = () => {
    if (left.current) return
    left.current = true
    props.onClose(task.running && !done.current)
  }

  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby="confirm-title"
      onCancel={(event) => {
        event.preventDefault()
        leave()
      }}
      onClose={leave}
    >
      <h2 id="confirm-title">{props.title}</h2>
      {props.children}
      {task.problem === undefined ? null : (
        <ProblemCard problem={task.problem}>
          {onRetry === undefined ? null : (
            <button
              type="button"
              class="button"
              onClick={() => {
                task.reset()
                onRetry()
              }}
            >
              Try again
            </button>
          )}
        </ProblemCard>
      )}
      <div class="actions end">
        <button type="button" class="button quiet" onClick={leave}>
          {words.cancel ?? "Cancel"}
        </button>
        <RunButton kind="primary" running={task.running} disabled={write === undefined} onClick={run}>
          {task.running ? words.writing : words.write}
        </RunButton>
      </div>
    </dialog>
  )
}
