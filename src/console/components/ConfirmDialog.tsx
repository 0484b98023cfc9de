import type * as Effect from "effect/Effect"
import type { ComponentChildren } from "preact"
import { useRef } from "preact/hooks"
import { closeDialog, ModalDialog } from "./ModalDialog.js"
import type { Problem } from "./Problem.js"
import { ProblemCard } from "./ProblemCard.js"
import { RunButton } from "./RunButton.js"
import { useEffectRunner } from "./useEffectRunner.js"

/** Asks for confirmation, then runs the effect. */
export const ConfirmDialog = <A,>(props: {
  readonly title: ComponentChildren
  readonly children: ComponentChildren
  /** The id of the element that gets the focus back. Default: the focused element. */
  readonly opener?: string
  /** The labels of its buttons; `writing` is shown while the effect runs. */
  readonly words: { readonly write: string; readonly writing: string; readonly cancel?: string }
  /** Undefined while there is nothing to write. */
  readonly write: Effect.Effect<A, Problem> | undefined
  /** Called to retry after a failure. */
  readonly onRetry?: () => void
  /** `unknown`: a write was started and its result was not seen. */
  readonly onClose: (unknown: boolean) => void
  readonly onDone: (written: A) => void
}) => {
  const done = useRef(false)
  const task = useEffectRunner()
  const { onRetry, opener, words, write } = props

  const run = () => {
    if (write === undefined) return
    task.run(write, {
      success: (written) => {
        done.current = true
        props.onDone(written)
      }
    })
  }

  return (
    <ModalDialog
      titleId="confirm-title"
      {...(opener === undefined ? {} : { opener: () => document.getElementById(opener) })}
      onClose={() => props.onClose(task.running && !done.current)}
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
        <button type="button" class="button quiet" onClick={closeDialog}>
          {words.cancel ?? "Cancel"}
        </button>
        <RunButton kind="primary" running={task.running} disabled={write === undefined} onClick={run}>
          {task.running ? words.writing : words.write}
        </RunButton>
      </div>
    </ModalDialog>
  )
}
