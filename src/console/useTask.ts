import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { returnFocus } from "./Focus.js"
import { offline, type Problem } from "./Problem.js"

export interface Task {
  readonly running: boolean
  /** Runs an effect in place of the one that runs now, whose answer, should it still come, is dropped. */
  readonly run: <A>(
    effect: Effect.Effect<A, Problem>,
    done: { readonly success: (value: A) => void; readonly failure: (problem: Problem) => void }
  ) => void
  readonly cancel: () => void
}

/** One thing at a time that can be cancelled: by the person, by the next run, and when the view goes away. */
export const useTask = (): Task => {
  const [running, setRunning] = useState(false)
  const fiber = useRef<Fiber.RuntimeFiber<unknown, unknown> | undefined>(undefined)
  const cancel = useCallback(() => {
    const current = fiber.current
    fiber.current = undefined
    if (current !== undefined) Effect.runFork(Fiber.interruptFork(current))
    setRunning(false)
  }, [])
  const run = useCallback<Task["run"]>((effect, done) => {
    const before = document.activeElement
    if (fiber.current !== undefined) Effect.runFork(Fiber.interruptFork(fiber.current))
    setRunning(true)
    const mine = Effect.runFork(effect)
    fiber.current = mine
    mine.addObserver((exit) => {
      if (fiber.current !== mine) return
      fiber.current = undefined
      setRunning(false)
      // A button that is shut while its request runs loses the focus.
      requestAnimationFrame(() => returnFocus(before))
      if (Exit.isSuccess(exit)) done.success(exit.value)
      else if (!Cause.isInterruptedOnly(exit.cause)) {
        done.failure(
          Option.getOrElse(Cause.failureOption(exit.cause), () =>
            offline(`Something unexpected happened: ${String(Cause.squash(exit.cause))}`)
          )
        )
      }
    })
  }, [])
  useEffect(() => cancel, [cancel])
  return { running, run, cancel }
}
