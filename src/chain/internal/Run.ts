import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as Exit from "effect/Exit"
import type { LogEntry } from "../Logging.js"
import { endEntry, type LogOptions, startEntry } from "../Logging.js"
import { UnhandledRequestError } from "../UnhandledRequestError.js"
import { isEffect } from "./isEffect.js"
import { monotonicMillis } from "./monotonic.js"
import { Op, type Step } from "./Step.js"

/** What one execution shares among its parts: the program, and who answered if somebody asks. */
export class Execution {
  /** Only kept when `watched`. */
  answered: Step | undefined = undefined
  constructor(
    readonly program: ReadonlyArray<Step>,
    readonly chain: string,
    readonly watched: boolean
  ) {}
}

/** The rest of a chain as an Effect: runs nothing until it is run, and anew each time. */
export class Rest extends Effectable.Class<any, any, any> {
  constructor(
    readonly execution: Execution,
    readonly index: number,
    readonly request: unknown
  ) {
    super()
  }
  commit(): Effect.Effect<any, any, any> {
    this.execution.answered = undefined
    return resume(this.execution, this.index, this.request, false)
  }
}

interface Pending {
  readonly options: LogOptions
  readonly started: number
  readonly outer: Pending | undefined
}

const write = (options: LogOptions, entry: LogEntry) => {
  try {
    options.write(entry)
  } catch {
    // Logging never fails the request.
  }
}

const exitEntry = (options: LogOptions, started: number, exit: Exit.Exit<unknown, unknown>) =>
  endEntry(options, monotonicMillis() - started, exit)

const notABoolean = (step: Step, verdict: unknown) =>
  new TypeError(
    `The condition of step "${step.name}" gave ${typeof verdict} ${String(verdict)}: return true, false, or an Effect of one`
  )

/** One pass over the program, as far as it goes without running an Effect. */
export class Walk {
  /** Whether `from` returned an Effect that still has to run, instead of the answer. */
  unfinished = false
  private pending: Pending | undefined = undefined

  constructor(readonly execution: Execution) {}

  /** Goes on at a place of the program; `met` says that the condition there holds already. */
  from(start: number, request: unknown, met: boolean): unknown {
    try {
      return this.walk(start, request, met)
    } catch (defect) {
      if (this.pending !== undefined) this.report(Exit.die(defect))
      throw defect
    }
  }

  private walk(start: number, initial: unknown, met: boolean): unknown {
    const execution = this.execution
    const program = execution.program
    let request = initial
    let index = start
    let step = program[index]!
    let when = met ? undefined : step.when
    for (;;) {
      let verdict: unknown = true
      if (when !== undefined) verdict = when(request)
      if (verdict === false) {
        index += step.skip
      } else if (verdict !== true) {
        return this.ask(step, index, request, verdict)
      } else if (step.op === Op.Answer || step.op === Op.Handle) {
        const reply = step.op === Op.Answer ? step.run!(request) : step.run!(request, this.nextAfter(index))
        if (!isEffect(reply)) return this.answer(step, reply)
        if (!(reply instanceof Rest && reply.execution === execution)) return this.defer(step, reply)
        execution.answered = undefined
        index = reply.index
        request = reply.request
      } else if (step.op === Op.Enter) {
        index++
      } else if (step.op === Op.Log) {
        this.start(step.log!)
        index++
      } else {
        return this.refuse()
      }
      step = program[index]!
      when = step.when
    }
  }

  private nextAfter(index: number) {
    const execution = this.execution
    return (request: unknown) => new Rest(execution, index + 1, request)
  }

  private answer(step: Step, reply: unknown) {
    if (this.execution.watched) this.execution.answered = step
    if (this.pending !== undefined) this.report(Exit.succeed(reply))
    return reply
  }

  private refuse() {
    this.unfinished = true
    const exit = Exit.fail(new UnhandledRequestError({ chain: this.execution.chain }))
    if (this.pending !== undefined) this.report(exit)
    return exit
  }

  private ask(step: Step, index: number, request: unknown, verdict: unknown) {
    if (!isEffect(verdict)) throw notABoolean(step, verdict)
    const execution = this.execution
    return this.observed(
      Effect.flatMap(verdict, (accepted) => {
        if (typeof accepted !== "boolean") throw notABoolean(step, accepted)
        return resume(execution, accepted ? index : index + step.skip, request, accepted)
      })
    )
  }

  private defer(step: Step, effect: Effect.Effect<unknown, unknown, unknown>) {
    const execution = this.execution
    if (Exit.isExit(effect) && Exit.isSuccess(effect)) return this.answer(step, effect.value)
    if (!execution.watched) return this.observed(effect)
    return this.observed(
      Effect.matchCauseEffect(effect, {
        onFailure: (cause) => {
          execution.answered = undefined
          return Effect.failCause(cause)
        },
        onSuccess: (answer) => {
          execution.answered ??= step
          return Exit.succeed(answer)
        }
      })
    )
  }

  private observed(effect: Effect.Effect<unknown, unknown, unknown>) {
    this.unfinished = true
    let observed = effect
    for (let log = this.pending; log !== undefined; log = log.outer) {
      const { options, started } = log
      observed = Effect.onExit(observed, (exit) =>
        Effect.sync(() => write(options, exitEntry(options, started, exit)))
      )
    }
    this.pending = undefined
    return observed
  }

  private start(options: LogOptions) {
    write(options, startEntry(options))
    this.pending = { options, started: monotonicMillis(), outer: this.pending }
  }

  private report(exit: Exit.Exit<unknown, unknown>) {
    for (let log = this.pending; log !== undefined; log = log.outer) {
      write(log.options, exitEntry(log.options, log.started, exit))
    }
    this.pending = undefined
  }
}

/** Goes on in a new pass; inside a fiber, where an Effect had to be awaited. */
const resume = (execution: Execution, index: number, request: unknown, met: boolean) => {
  const walk = new Walk(execution)
  const reply = walk.from(index, request, met)
  return walk.unfinished ? (reply as Effect.Effect<any, any, any>) : Exit.succeed(reply)
}
