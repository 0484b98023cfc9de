import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import { AsyncStepError } from "../AsyncStepError.js"
import { type Execution, Walk } from "./Run.js"

const runNow = (chain: string, effect: Effect.Effect<any, any>): Exit.Exit<any, any> => {
  if (Exit.isExit(effect)) return effect
  const exit = Effect.runSyncExit(effect)
  if (Exit.isSuccess(exit)) return exit
  const waiting = Option.filter(Cause.dieOption(exit.cause), Runtime.isAsyncFiberException)
  if (Option.isNone(waiting)) return exit
  // The fiber would go on in the background after its caller was told that it failed.
  waiting.value.fiber.unsafeInterruptAsFork(FiberId.none)
  return Exit.die(new AsyncStepError({ chain }))
}

/** Runs a whole execution at once; never throws. */
export const toExit = (execution: Execution, request: unknown): Exit.Exit<any, any> => {
  const walk = new Walk(execution)
  try {
    const reply = walk.from(0, request, false)
    return walk.unfinished ? runNow(execution.chain, reply as Effect.Effect<any, any>) : Exit.succeed(reply)
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Runs a whole execution at once, and throws the failure or defect itself. */
export const orThrow = (execution: Execution, request: unknown): unknown => {
  const walk = new Walk(execution)
  const reply = walk.from(0, request, false)
  if (!walk.unfinished) return reply
  const exit = runNow(execution.chain, reply as Effect.Effect<any, any>)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}
