import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { StepKind } from "./Handler.js"
import { monotonicMillis } from "./internal/ExecutionLog.js"
import { Continuation, Execution, interpret, isEffect } from "./internal/Interpreter.js"
import { Op, type Step } from "./internal/Step.js"
import type { LogOptions } from "./LogEntry.js"
import { effectLogging } from "./Logging.js"

/**
 * The outcome of a step: its condition was false (`skipped`), it called `next` (`passed`), it responded or its branch
 * was entered (`matched`), it failed without calling `next` (`failed`), or it had not ended (`running`).
 *
 * @since 0.1.0
 * @category models
 */
export type StepOutcome = "skipped" | "passed" | "matched" | "failed" | "running"

/**
 * One visit to a step.
 *
 * @since 0.1.0
 * @category models
 */
export interface TracedStep {
  /** The names of the branches that contain the step, then its own name. */
  readonly path: ReadonlyArray<string>
  /** The step's name. The steps of a branch follow the branch. */
  readonly name: string
  /** The kind of the step. */
  readonly kind: StepKind
  /** The outcome of the step. */
  readonly outcome: StepOutcome
  /** The time from the condition to the outcome, with the time of `next`. */
  readonly elapsedMillis: number
}

/**
 * The report of one execution. Steps are in the order of the visits. A step that is visited twice is listed twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Trace<Res, E> {
  /** The result of the execution. */
  readonly exit: Exit.Exit<Res, E>
  /** The name of the step that handled the request; undefined if the execution failed. */
  readonly handledBy: string | undefined
  /** The duration in milliseconds. */
  readonly elapsedMillis: number
  /** The visited steps in order. */
  readonly steps: ReadonlyArray<TracedStep>
}

type Visit = { -readonly [K in keyof TracedStep]: TracedStep[K] }

class Recorder {
  readonly visits: Array<Visit> = []

  visit(path: ReadonlyArray<string>, step: Step) {
    const started = monotonicMillis()
    const visit: Visit = { path, name: step.name, kind: step.kind, outcome: "running", elapsedMillis: 0 }
    this.visits.push(visit)
    return (outcome: StepOutcome) => {
      visit.outcome = outcome
      visit.elapsedMillis = monotonicMillis() - started
    }
  }
}

const loggingByEffect = ({ description, kind, name }: Step, log: LogOptions): Step => {
  const run = effectLogging(log, (entry) => Effect.sync(() => log.write(entry)))
  return {
    op: Op.Handle,
    when: undefined,
    run,
    skip: 1,
    name,
    kind,
    description,
    inner: undefined,
    log: undefined
  }
}

/** Stands for the fiber of code that runs at once and in none, such as a callback that calls `next`. */
const noFiber = {}

const currentFiber = (): object => Option.getOrElse(Fiber.getCurrentFiber(), () => noFiber)

const recording = (
  registered: Step,
  path: ReadonlyArray<string>,
  recorder: Recorder,
  execution: Execution
): Step => {
  const step = registered.log === undefined ? registered : loggingByEffect(registered, registered.log)
  /** Ends the visit whose condition was true, by the fiber: it calls `run` next. Another fiber may visit the step meanwhile. */
  const accepted = new WeakMap<object, (outcome: StepOutcome) => void>()
  const when =
    step.when &&
    ((request: unknown) => {
      const end = recorder.visit(path, step)
      const judged = (verdict: unknown) => {
        if (verdict === false) end("skipped")
        // The interpreter ends the execution with a defect.
        else if (verdict !== true) end("failed")
        else if (step.op === Op.Enter) end("matched")
        else accepted.set(currentFiber(), end)
        return verdict
      }
      try {
        const verdict = step.when!(request)
        if (!isEffect(verdict)) return judged(verdict)
        return Effect.onExit(Effect.map(verdict, judged), (exit) =>
          Exit.isSuccess(exit) ? Effect.void : Effect.sync(() => end("failed"))
        )
      } catch (defect) {
        end("failed")
        throw defect
      }
    })
  const run =
    step.run &&
    ((request: unknown, next: any) => {
      const end = step.when === undefined ? recorder.visit(path, step) : accepted.get(currentFiber())!
      let passed = false
      const settle = (success: boolean) => end(passed ? "passed" : success ? "matched" : "failed")
      const handOn = (changed: unknown) => {
        passed = true
        return next(changed)
      }
      try {
        const reply = step.run!(request, next && handOn)
        const tail = reply instanceof Continuation && reply.execution === execution
        if (isEffect(reply) && !tail) {
          return Effect.onExit(reply, (exit) => Effect.sync(() => settle(Exit.isSuccess(exit))))
        }
        settle(true)
        return reply
      } catch (defect) {
        settle(false)
        throw defect
      }
    })
  const { description, inner, kind, log, name, op, skip } = step
  return { op, when, run, skip, name, kind, description, inner, log }
}

/** For each slot: the names of the branches that contain it, then the step's own name. */
const pathsOf = (program: ReadonlyArray<Step>) => {
  const open: Array<readonly [name: string, end: number]> = []
  return program.map((step, index) => {
    while (open.length > 0 && open[open.length - 1]![1] <= index) open.pop()
    const path = [...open.map(([name]) => name), step.name]
    open.push([step.name, index + step.skip])
    return path
  })
}

/** @internal */
export const trace = (program: ReadonlyArray<Step>, chain: string, request: unknown) =>
  Effect.suspend(() => {
    const recorder = new Recorder()
    const paths = pathsOf(program)
    const recorded: Array<Step> = []
    const execution = new Execution(recorded, chain, true)
    program.forEach((step, index) => {
      recorded.push(recording(step, paths[index]!, recorder, execution))
    })
    const started = monotonicMillis()
    return Effect.map(
      Effect.exit(Effect.suspend(() => interpret(execution, 0, request, false))),
      (exit): Trace<any, any> => ({
        exit,
        handledBy: Exit.isSuccess(exit) ? execution.handledBy!.name : undefined,
        elapsedMillis: monotonicMillis() - started,
        steps: recorder.visits
      })
    )
  })
