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
  /** The failure of the last run. */
  readonly problem: Problem | undefined
  /**
   * Runs an effect and interrupts the running one. A failure is announced and stored in `problem`, unless `failure`
   * handles it.
   */
  readonly run: <A>(
    effect: Effect.Effect<A, Problem>,
    done: { readonly success: (value: A) => void; readonly failure?: (problem: Problem) => void }
  ) => void
  readonly cancel: () => void
  /** Cancels the run and clears the problem. */
  readonly reset: () => void
}

/** Runs one effect at a time. `cancel`, the next run, and removing the component interrupt it. */
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
      // A button loses the focus when it is disabled during its request.
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
