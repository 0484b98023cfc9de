import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { AsyncStepError } from "../AsyncStepError.js"

/** Runs an Effect synchronously. An Effect that has to wait is interrupted, and dies with an `AsyncStepError`. */
export const runSyncExit = (chain: string, effect: Effect.Effect<any, any>): Exit.Exit<any, any> => {
  if (Exit.isExit(effect)) return effect
  const exit = Effect.runSyncExit(effect)
  if (Exit.isSuccess(exit)) return exit
  const waiting = Option.filter(Cause.dieOption(exit.cause), Runtime.isAsyncFiberException)
  if (Option.isNone(waiting)) return exit
  // Otherwise the fiber would continue in the background after its caller received the failure.
  waiting.value.fiber.unsafeInterruptAsFork(FiberId.none)
  return Exit.die(new AsyncStepError({ chain }))
}
