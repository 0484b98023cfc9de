import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { useCallback, useEffect, useRef, useState } from "preact/hooks"
import { alarmProblem } from "./Announcer.js"
import { restoreFocus } from "./Focus.js"
import { offline, type Problem } from "./Problem.js"

export interface EffectRunner {
  readonly running: boolean
  /** Why the last run failed. */
  readonly problem: Problem | undefined
  /**
   * Runs an effect and interrupts the one that runs now. A failure is announced and becomes `problem`, unless
   * `failure` handles it.
   */
  readonly run: <A>(
    effect: Effect.Effect<A, Problem>,
    done: { readonly success: (value: A) => void; readonly failure?: (problem: Problem) => void }
  ) => void
  readonly cancel: () => void
  /** Cancels the run and forgets the last problem. */
  readonly reset: () => void
}

/** One effect at a time, interrupted by `cancel`, by the next run, and when the component goes away. */
export const useEffectRunner = (): EffectRunner => {
  const [running, setRunning] = useState(false)
  const [problem, setProblem] = useState<Problem | undefined>(undefined)
  const fiber = useRef<Fiber.RuntimeFiber<unknown, unknown> | undefined>(undefined)
  const cancel = useCallback(() => {
    const current = fiber.current
    fiber.current = undefined
    if (current !== undefined) Effect.runFork(Fiber.interruptFork(current))
    setRunning(false)
  }, [])
  const reset = useCallback(() => {
    cancel()
    setProblem(undefined)
  }, [])
  const run = useCallback<EffectRunner["run"]>((effect, done) => {
    const before = document.activeElement
    if (fiber.current !== undefined) Effect.runFork(Fiber.interruptFork(fiber.current))
    setRunning(true)
    const mine = Effect.runFork(effect)
    fiber.current = mine
    const fail = (failure: Problem) => {
      setProblem(failure)
      alarmProblem(failure)
    }
    mine.addObserver((exit) => {
      if (fiber.current !== mine) return
      fiber.current = undefined
      setRunning(false)
      // A button that is disabled while its request runs loses the focus.
      requestAnimationFrame(() => restoreFocus(before))
      if (Exit.isSuccess(exit)) {
        setProblem(undefined)
        done.success(exit.value)
      } else if (!Cause.isInterruptedOnly(exit.cause)) {
        const failure = Option.getOrElse(Cause.failureOption(exit.cause), () =>
          offline(`Unexpected error: ${String(Cause.squash(exit.cause))}`)
        )
        ;(done.failure ?? fail)(failure)
      }
    })
  }, [])
  useEffect(() => cancel, [cancel])
  return { running, problem, run, cancel, reset }
}
