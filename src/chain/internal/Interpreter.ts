import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { SingleShotGen, YieldWrap } from "effect/Utils"
import { UnhandledRequestError } from "../UnhandledRequestError.js"
import * as Logs from "./ExecutionLog.js"
import { runSyncExit } from "./RunSync.js"
import { Op, type Step } from "./Step.js"

/** Whether a reply has to be run. To Effect, Option and Either are effects; to a chain they are plain values. */
export const isEffect = (reply: unknown): reply is Effect.Effect<any, any, any> =>
  ((typeof reply === "object" && reply !== null) || typeof reply === "function") &&
  Effect.EffectTypeId in reply &&
  !(Option.TypeId in reply) &&
  !(Either.TypeId in reply)

/** The state of one execution: the program, and the step that handled the request if that is tracked. */
export class Execution {
  /** The step that handled the request last. Set only when `tracksHandler`. */
  handledBy: Step | undefined = undefined
  /**
   * Whether `handledBy` is of the current run of the steps. It is kept when another run begins: that one may be in
   * another fiber, after the step that ran it has responded.
   */
  isHandled = false
  constructor(
    readonly program: ReadonlyArray<Step>,
    readonly chain: string,
    readonly tracksHandler: boolean
  ) {}

  handle(step: Step): void {
    this.handledBy = step
    this.isHandled = true
  }
}

/**
 * Every sixteenth `yield*` goes through the fiber's run loop, which counts operations, so an endless loop still yields: a loop of
 * short chains after 2 ms. Every fourth one made a short chain take 1.4 times as long.
 */
const inlineTurns = 16
let turn = 0

/**
 * An Effect that is evaluated when it is run. In a generator, `yield*` evaluates it directly: the generator receives an
 * Exit without another turn of the fiber's run loop, which makes a short chain twice as fast.
 */
export abstract class LazyEffect extends Effectable.Class<any, any, any> {
  override [Symbol.iterator](): any {
    if (++turn === inlineTurns) {
      turn = 0
      return new SingleShotGen(new YieldWrap(this))
    }
    try {
      return new SingleShotGen(new YieldWrap(this.commit()))
    } catch (defect) {
      return new SingleShotGen(new YieldWrap(Exit.die(defect)))
    }
  }
}

/** The remaining steps of a chain as an Effect. Every run executes them again. */
export class Continuation extends LazyEffect {
  constructor(
    readonly execution: Execution,
    readonly index: number,
    readonly request: unknown
  ) {
    super()
  }

  override commit(): Effect.Effect<any, any, any> {
    this.execution.isHandled = false
    return interpret(this.execution, this.index, this.request, false)
  }
}

const notABoolean = (step: Step, verdict: unknown) => {
  const kind = verdict === null ? "null" : typeof verdict
  return new TypeError(
    `The condition of step "${step.name}" gave ${kind}: return true, false, or an Effect of one`
  )
}

/** Executes a program until it ends, or until a step returns an Effect that has to be run. */
export class Interpreter {
  /** Whether the result is an Effect that still has to be run. */
  unfinished = false
  private log: Logs.PendingLog | undefined = undefined

  constructor(readonly execution: Execution) {}

  /** Returns the response or, when `unfinished`, an Effect. With `met` the condition at `start` is not evaluated again. */
  from(start: number, request: unknown, met: boolean): unknown {
    try {
      return this.steps(start, request, met)
    } catch (defect) {
      Logs.end(this.log, Exit.die(defect))
      throw defect
    }
  }

  // Measured: this flat loop takes 1.3 times as long as a plain loop, a nested one 1.5 times.
  private steps(start: number, initial: unknown, met: boolean): unknown {
    const execution = this.execution
    const program = execution.program
    let request = initial
    let index = start
    let asked = met
    for (;;) {
      const step = program[index]!
      const when = step.when
      if (when !== undefined && !asked) {
        const verdict = when(request)
        if (verdict === false) {
          if (step.skip === 1) index++
          else index += step.skip
          continue
        }
        if (verdict !== true) return this.ask(step, index, request, verdict)
      }
      asked = false
      if (step.op === Op.Answer || step.op === Op.Handle) {
        const reply =
          step.op === Op.Answer ? step.run!(request) : step.run!(request, nextAfter(execution, index))
        if (!isEffect(reply)) return this.answer(step, reply)
        if (!(reply instanceof Continuation && reply.execution === execution)) return this.defer(step, reply)
        execution.isHandled = false
        index = reply.index
        request = reply.request
      } else if (step.op === Op.Enter) {
        index++
      } else if (step.op === Op.Log) {
        this.log = new Logs.PendingLog(step.log!, this.log)
        index++
      } else {
        return this.refuse()
      }
    }
  }

  private answer(step: Step, reply: unknown) {
    if (this.execution.tracksHandler) this.execution.handle(step)
    if (this.log !== undefined) Logs.end(this.log, Exit.succeed(reply))
    return reply
  }

  private refuse() {
    this.unfinished = true
    const exit = Exit.fail(new UnhandledRequestError({ chain: this.execution.chain }))
    Logs.end(this.log, exit)
    return exit
  }

  private ask(step: Step, index: number, request: unknown, verdict: unknown) {
    if (!isEffect(verdict)) throw notABoolean(step, verdict)
    const execution = this.execution
    return this.remaining(
      Effect.flatMap(verdict, (accepted) => {
        if (typeof accepted !== "boolean") throw notABoolean(step, accepted)
        return interpret(execution, accepted ? index : index + step.skip, request, accepted)
      })
    )
  }

  private defer(step: Step, effect: Effect.Effect<unknown, unknown, unknown>) {
    const execution = this.execution
    if (Exit.isExit(effect) && Exit.isSuccess(effect)) return this.answer(step, effect.value)
    return this.remaining(execution.tracksHandler ? trackHandler(execution, step, effect) : effect)
  }

  private remaining(effect: Effect.Effect<unknown, unknown, unknown>) {
    this.unfinished = true
    return Logs.logExit(this.log, effect)
  }
}

const nextAfter = (execution: Execution, index: number) => (request: unknown) =>
  new Continuation(execution, index + 1, request)

/** Executes from a step on: returns an Exit, or the Effect that remains to be run. */
export const interpret = (
  execution: Execution,
  index: number,
  request: unknown,
  met: boolean
): Effect.Effect<any, any, any> => {
  const walk = new Interpreter(execution)
  const reply = walk.from(index, request, met)
  return walk.unfinished ? (reply as Effect.Effect<any, any, any>) : Exit.succeed(reply)
}

const trackHandler = (execution: Execution, step: Step, effect: Effect.Effect<unknown, unknown, unknown>) =>
  Effect.matchCauseEffect(effect, {
    onFailure: (cause) => {
      execution.isHandled = false
      return Effect.failCause(cause)
    },
    onSuccess: (reply) => {
      if (!execution.isHandled) execution.handle(step)
      return Exit.succeed(reply)
    }
  })

/** Runs an execution synchronously. Never throws. */
export const runToExit = (execution: Execution, request: unknown): Exit.Exit<any, any> => {
  const walk = new Interpreter(execution)
  try {
    const reply = walk.from(0, request, false)
    return walk.unfinished
      ? runSyncExit(execution.chain, reply as Effect.Effect<any, any>)
      : Exit.succeed(reply)
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Runs an execution synchronously. Throws the failure or defect itself. */
export const runOrThrow = (execution: Execution, request: unknown): unknown => {
  const walk = new Interpreter(execution)
  const reply = walk.from(0, request, false)
  if (!walk.unfinished) return reply
  const exit = runSyncExit(execution.chain, reply as Effect.Effect<any, any>)
  if (Exit.isSuccess(exit)) return exit.value
  throw Cause.squash(exit.cause)
}
